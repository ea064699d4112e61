#include "query/relation.h"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

// A reader that returns only missing cells of a type.
ReadCells all_missing(CellType type) {
  return [type](size_t, size_t count, Cells& out) {
    out.missing.assign(count, 1);
    if (type == CellType::kInteger) out.integers.assign(count, 0);
    if (type == CellType::kUnsigned) out.unsigneds.assign(count, 0);
    if (type == CellType::kReal) out.reals.assign(count, 0);
    if (type == CellType::kText) out.texts.assign(count, {});
    if (type == CellType::kBool) out.bools.assign(count, 0);
  };
}

size_t column_at(std::vector<RelationColumn>& columns, const RelationColumn& wanted) {
  const auto found =
      std::find_if(columns.begin(), columns.end(),
                   [&wanted](const RelationColumn& column) { return column.name == wanted.name; });
  if (found != columns.end()) return static_cast<size_t>(found - columns.begin());
  columns.push_back(wanted);
  return columns.size() - 1;
}

// Reads an integer column as reals, for columns that are real in other inputs. Text never mixes
// with numbers, because words have their own column (query/document_relations.h).
ReadCells as_real(ReadCells integers) {
  return [read = std::move(integers)](size_t first, size_t count, Cells& out) {
    read(first, count, out);
    for (const int64_t value : out.integers) out.reals.push_back(static_cast<double>(value));
  };
}

void widen(RelationColumn& column, std::vector<RelationPart>& parts, size_t number) {
  column.type = CellType::kReal;
  for (RelationPart& part : parts) {
    if (number < part.columns.size()) part.columns[number] = as_real(part.columns[number]);
  }
}

// Common prefix of two titles, cut before an unfinished word or a parenthesis that differs, because
// the numbers in it are of one input.
std::string shared_meaning(const std::string& a, const std::string& b) {
  if (a == b) return a;
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto ends_word = [](auto it, auto end) { return it == end || *it == ' '; };
  std::string shared(a.begin(), at);
  if (const size_t open = shared.rfind(" (");
      open != std::string::npos && shared.find(')', open) == std::string::npos) {
    shared.resize(open);
  } else if (!ends_word(at, a.end()) || !ends_word(other, b.end())) {
    shared.resize(std::min(shared.size(), shared.find_last_of(' ') + 1));
  }
  while (shared.ends_with(' ')) shared.pop_back();
  return shared;
}

void merge_relation(Relation& into, Relation from) {
  into.meaning = shared_meaning(into.meaning, from.meaning);
  std::vector<size_t> places;
  for (size_t i = 0; i < from.columns.size(); ++i) {
    RelationColumn& column = from.columns[i];
    const size_t place = column_at(into.columns, column);
    RelationColumn& known = into.columns[place];
    if (known.type == CellType::kInteger && column.type == CellType::kReal) {
      widen(known, into.parts, place);
    }
    if (known.type == CellType::kReal && column.type == CellType::kInteger) {
      widen(column, from.parts, i);
    }
    places.push_back(place);
  }
  for (RelationPart& part : from.parts) {
    RelationPart placed{part.rank, part.rows, {}};
    for (const RelationColumn& column : into.columns) {
      placed.columns.push_back(all_missing(column.type));
    }
    for (size_t i = 0; i < places.size(); ++i) {
      if (into.columns[places[i]].type == from.columns[i].type) {
        placed.columns[places[i]] = std::move(part.columns[i]);
      }
    }
    into.parts.push_back(std::move(placed));
  }
  for (RelationPart& part : into.parts) {
    for (size_t i = part.columns.size(); i < into.columns.size(); ++i) {
      part.columns.push_back(all_missing(into.columns[i].type));
    }
  }
}

}  // namespace

std::string_view sql_type(CellType type) {
  switch (type) {
    case CellType::kInteger:
      return "BIGINT";
    case CellType::kUnsigned:
      return "UBIGINT";
    case CellType::kReal:
      return "DOUBLE";
    case CellType::kText:
      return "VARCHAR";
    case CellType::kBool:
      return "BOOLEAN";
  }
  return "VARCHAR";
}

void Cells::clear() {
  integers.clear();
  unsigneds.clear();
  reals.clear();
  texts.clear();
  bools.clear();
  missing.clear();
}

size_t Relation::rows() const {
  size_t sum = 0;
  for (const RelationPart& part : parts) sum += part.rows;
  return sum;
}

const Relation* Catalog::find(std::string_view name) const {
  const auto found = std::find_if(relations.begin(), relations.end(),
                                  [name](const Relation& r) { return r.name == name; });
  return found == relations.end() ? nullptr : &*found;
}

void Catalog::merge(Catalog other) {
  for (Relation& relation : other.relations) {
    if (const Relation* known = find(relation.name)) {
      merge_relation(relations[static_cast<size_t>(known - relations.data())], std::move(relation));
    } else {
      relations.push_back(std::move(relation));
    }
  }
}

}  // namespace assay
