#include "cli/agent_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/closest_word.h"
#include "base/json_tree.h"
#include "base/utf8.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestText = 240;  // bytes per cell; template names can have thousands

size_t bytes_of(const Json& value) { return json_text(value).size(); }

// The value at "a.b.c"; null if it does not exist.
const Json* find_path(const Json& document, std::string_view path) {
  const Json* at = &document;
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    const auto found = at->is_object() ? at->find(std::string(path.substr(0, dot))) : at->end();
    if (!at->is_object() || found == at->end()) return nullptr;
    at = &*found;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at;
}

std::string joined_texts(const Json& texts) {
  std::string all;
  if (texts.is_string()) return texts.get<std::string>();
  for (const Json& one : texts) {
    if (one.is_string()) all += (all.empty() ? "" : " ") + one.get<std::string>();
  }
  return all;
}

// The text of a key; empty if it does not exist.
std::string text_at(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? joined_texts(*found) : "";
}

// The per-input results of a document that analyzes each input separately; null if it covers all.
const Json* parts_of(const Json& document) {
  for (const auto& [key, value] : document.items()) {
    if (!value.is_array() || value.empty() || !value.front().is_object()) continue;
    if (value.front().contains("import_log") && value.front().contains("name")) return &value;
  }
  return nullptr;
}

Json shortened(const Json& cell, size_t& cut) {
  if (cell.is_array()) {
    Json all = Json::array();
    for (const Json& one : cell) all.push_back(shortened(one, cut));
    return all;
  }
  if (!cell.is_string()) return cell;
  const auto& text = cell.get_ref<const std::string&>();
  if (text.size() <= kLongestText) return cell;
  ++cut;
  size_t end = kLongestText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

// Rows of a table, restricted to the question's columns; all columns if it names none.
class Rows {
 public:
  Rows(const AnswerTable& table, const Json& document) : table_(table) {
    if (const Json* rows = find_path(document, table.path)) add(*rows, "");
    const Json* parts = rows_.empty() ? parts_of(document) : nullptr;
    if (parts != nullptr) {
      for (const Json& part : *parts) {
        const Json* rows = find_path(part, table.path);
        if (rows != nullptr) add(*rows, text_at(part, "name"));
      }
    }
    if (!table.largest_first.empty()) sort(table.largest_first);
  }

  size_t size() const { return rows_.size(); }
  const Json& operator[](size_t i) const { return rows_[i]; }
  // Number of truncated texts.
  size_t cut() const { return cut_; }

 private:
  void add(const Json& rows, const std::string& input) {
    if (rows.is_object()) return add_row(rows, input);
    if (!rows.is_array()) return;
    for (const Json& row : rows) add_row(row, input);
  }

  void add_row(const Json& row, const std::string& input) {
    Json kept = Json::object();
    if (!input.empty()) kept["input"] = input;
    if (!row.is_object()) {
      kept["text"] = shortened(row, cut_);
    } else if (table_.columns.empty()) {
      for (const auto& [key, value] : row.items()) kept[key] = shortened(value, cut_);
    }
    for (const AnswerKey& column : table_.columns) {
      if (const auto found = row.find(column.key); row.is_object() && found != row.end()) {
        kept[column.key] = shortened(*found, cut_);
      }
    }
    rows_.push_back(std::move(kept));
  }

  void sort(const std::string& key) {
    const auto value = [&key](const Json& row) {
      const auto found = row.find(key);
      return found != row.end() && found->is_number() ? found->get<double>() : -1.0;
    };
    std::stable_sort(rows_.begin(), rows_.end(),
                     [&value](const Json& a, const Json& b) { return value(a) > value(b); });
  }

  const AnswerTable& table_;
  std::vector<Json> rows_;
  size_t cut_ = 0;
};

// The document, and the lines before and after it.
struct Printed {
  Json document;
  std::vector<std::string> notes;
};

Result<Printed> split_printed(const std::string& printed) {
  const size_t begin = printed.starts_with("{") ? 0 : printed.find("\n{") + 1;
  const size_t last = printed.rfind("\n}");
  if ((begin == 0 && !printed.starts_with("{")) || last == std::string::npos || last < begin) {
    return Error{ErrorCode::kFormat, "the verb printed no document", "", -1};
  }
  Printed parts{parsed_ordered_json(std::string_view(printed).substr(begin, last + 2 - begin)), {}};
  if (!parts.document.is_object()) {
    return Error{ErrorCode::kFormat, "the verb printed no whole document", "", -1};
  }
  const std::string around = printed.substr(0, begin) + printed.substr(last + 2);
  for (size_t at = 0; at < around.size();) {
    const size_t end = std::min(around.find('\n', at), around.size());
    std::string line = around.substr(at, end - at);
    at = end + 1;
    constexpr std::string_view kProgram = "assay: ";
    if (line.starts_with(kProgram)) line.erase(0, kProgram.size());
    if (!line.empty()) parts.notes.push_back(std::move(line));
  }
  return parts;
}

class Builder {
 public:
  Builder(const Question& question, const AnswerRequest& request)
      : question_(question), request_(request), arguments_(parsed_ordered_json(request.arguments)) {
    const size_t tokens = std::clamp(request.max_tokens, kLeastTokens, kMostTokens);
    budget_ = tokens * kBytesOfToken;
    if (!arguments_.is_object()) arguments_ = Json::object();
  }

  std::string take(const Printed& printed) {
    add_head(printed);
    find_unknown(printed.document);
    add_next();
    add_rows(printed.document);
    // A statement can return more rows than the verb prints.
    if (const auto cut = printed.document.find("rows_cut_at"); cut != printed.document.end()) {
      left_out_.push_back({{"what", "rows after the first " + json_text(*cut) + ": use LIMIT and OFFSET"}});
    }
    while (!next_.empty() && used() > budget_) next_.erase(next_.size() - 1);
    answer_["unknown"] = std::move(unknown_);
    answer_["left_out"] = std::move(left_out_);
    answer_["next"] = std::move(next_);
    return json_text(answer_);
  }

 private:
  void add_head(const Printed& printed) {
    const Json& document = printed.document;
    const Json* headline = find_path(document, "summary.headline");
    if (headline == nullptr) headline = find_path(document, "headline");
    if (headline != nullptr) add_headline(*headline);
    answer_["inputs"] = Json::array();
    if (const Json* inputs = find_path(document, "inputs")) {
      for (const Json& input : *inputs) {
        answer_["inputs"].push_back(input.is_object() ? text_at(input, "name") : joined_texts(input));
        if (answer_["inputs"].size() == 4 && inputs->size() > 5) {
          leave_out("inputs", inputs->size() - 4);
          break;
        }
      }
    }
    for (const AnswerValue& value : question_.values) {
      const Json* found = find_path(document, value.path);
      answer_[value.key] = found == nullptr ? Json() : *found;
    }
    if (!printed.notes.empty()) answer_["notes"] = printed.notes;
  }

  // Keeps the first sentence, and further ones while they use little of the budget.
  void add_headline(const Json& sentences) {
    Json kept = Json::array();
    size_t bytes = 0;
    for (const Json& sentence : sentences) {
      bytes += bytes_of(sentence);
      if (!kept.empty() && bytes > budget_ / 6) break;
      kept.push_back(sentence);
    }
    answer_["headline"] = joined_texts(kept);
    if (kept.size() < sentences.size()) {
      leave_out("sentences of the headline", sentences.size() - kept.size());
    }
  }

  void find_unknown(const Json& document) {
    // With several inputs there may be no common value; each table row names its input.
    const char* why_not = parts_of(document) == nullptr
                              ? "not in this input"
                              : "each input has its own: ask for one of them";
    for (const AnswerValue& value : question_.values) {
      const Json* found = find_path(document, value.path);
      if (found == nullptr || found->is_null()) add_unknown(value.key, why_not);
    }
    const Json* grade = find_path(document, "summary.confidence.grade");
    const Json* why = find_path(document, "summary.confidence.text");
    if (grade != nullptr && (*grade == "none" || *grade == "low")) {
      add_unknown("bottleneck", why == nullptr ? "" : joined_texts(*why));
    }
    const Json* notes = find_path(document, "summary.notes");
    for (const Json& note : notes == nullptr ? Json::array() : *notes) {
      if (text_at(note, "head") == "record") add_unknown("cause", text_at(note, "lines"));
    }
    const Json* losses = find_path(document, "import_log");
    for (const Json& loss : losses == nullptr ? Json::array() : *losses) {
      if (text_at(loss, "severity") != "data_loss") continue;
      add_unknown(text_at(loss, "code"), text_at(loss, "text"));
    }
  }

  void add_unknown(const std::string& what, const std::string& why) {
    unknown_.push_back({{"what", what}, {"why", why}});
  }

  // The same call for the remaining rows of one table.
  Json ask(const std::string& table, size_t skip) const {
    Json arguments = arguments_;
    if (question_.tables.size() > 1) arguments["table"] = table;
    if (skip > 0) arguments["skip_rows"] = skip;
    return {{"tool", question_.name}, {"arguments", std::move(arguments)}};
  }

  void leave_out(const std::string& what, size_t count) {
    left_out_.push_back({{"what", what}, {"count", count}});
  }

  // Only the first entry contains the call; the others give the number of rows to skip.
  void leave_out_rows(const std::string& table, size_t count, size_t skip, bool first) {
    leave_out(table, count);
    if (first) {
      left_out_.back()["ask"] = ask(table, skip);
    } else {
      left_out_.back()["skip_rows"] = skip;
    }
  }

  void add_next() {
    const auto bottleneck = answer_.find("bottleneck");
    for (const NextQuestion& next : question_.next) {
      const auto& only = next.bottlenecks;
      if (!only.empty() && (bottleneck == answer_.end() ||
                            std::find(only.begin(), only.end(), *bottleneck) == only.end())) {
        continue;
      }
      Json arguments = Json::object();
      for (const char* input : {"trace", "window", "part"}) {
        if (arguments_.contains(input)) arguments[input] = arguments_[input];
      }
      // Side B of a comparison, or the job.
      for (const char* input : {"b", "folder"}) {
        if (question_.name != "list" && arguments_.contains(input)) {
          arguments["trace"] = arguments_[input];
        }
      }
      next_.push_back({{"tool", next.tool}, {"arguments", arguments}, {"why", next.why}});
      // Rows are more useful than suggestions, so limit these.
      if (bytes_of(next_) > budget_ / 5) break;
    }
  }

  size_t used() const {
    return bytes_of(answer_) + bytes_of(unknown_) + bytes_of(left_out_) + bytes_of(next_) + 40;
  }

  // Adds a few rows of each table first, then more rows in table order.
  void add_rows(const Json& document) {
    constexpr size_t kFirst = 3;
    struct Open {
      const AnswerTable* table;
      Rows rows;
      size_t at;
    };
    std::vector<Open> open;
    for (const AnswerTable& table : question_.tables) {
      if (!request_.table.empty() && request_.table != table.key) continue;
      Rows rows(table, document);
      const size_t at = std::min(request_.skip_rows, rows.size());
      open.push_back({&table, std::move(rows), at});
      answer_[table.key] = Json::array();
    }
    // Space for "left_out": one call, and two short entries per table.
    const size_t reserve = used() + bytes_of(ask("a name of a table", 1000)) + open.size() * 130;
    size_t left = budget_ > reserve ? budget_ - reserve : 0;
    for (const size_t most : {kFirst, size_t{0}}) {
      for (Open& one : open) {
        Json& rows = answer_[one.table->key];
        while (one.at < one.rows.size() && (most == 0 || rows.size() < most)) {
          const size_t bytes = bytes_of(one.rows[one.at]) + 1;
          if (bytes > left) break;
          left -= bytes;
          rows.push_back(one.rows[one.at++]);
        }
      }
    }
    bool first = true;
    for (const Open& one : open) {
      const size_t more = one.rows.size() - one.at;
      if (more > 0) leave_out_rows(one.table->key, more, one.at, std::exchange(first, false));
      if (one.rows.cut() > 0) leave_out("ends of long texts of " + one.table->key, one.rows.cut());
    }
  }

  const Question& question_;
  const AnswerRequest& request_;
  Json arguments_;
  size_t budget_ = 0;
  Json answer_ = Json::object();
  Json unknown_ = Json::array();
  Json left_out_ = Json::array();
  Json next_ = Json::array();
};

// The lines that fit the budget, and the number of omitted ones.
std::string text_answer(const std::string& text, const AnswerRequest& request) {
  const size_t tokens = std::clamp(request.max_tokens, kLeastTokens, kMostTokens);
  const size_t most = tokens * kBytesOfToken - 100;
  size_t end = text.size();
  if (end > most) end = text.rfind('\n', most);
  if (end == std::string::npos) end = most;
  Json answer = {{"text", text.substr(0, end)},
                 {"unknown", Json::array()},
                 {"left_out", Json::array()},
                 {"next", Json::array()}};
  if (end < text.size()) {
    answer["left_out"].push_back({{"what", "bytes of text"}, {"count", text.size() - end}});
  }
  return json_text(answer);
}

}  // namespace

Result<std::string> agent_answer(const Question& question, const std::string& printed,
                                 const AnswerRequest& request) {
  if (question.is_text) return text_answer(printed, request);
  std::vector<std::string> known;
  for (const AnswerTable& table : question.tables) known.push_back(table.key);
  if (!request.table.empty() &&
      std::find(known.begin(), known.end(), request.table) == known.end()) {
    const std::string near = closest_word(request.table, known);
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("no table '{}'{}", request.table,
                             near.empty() ? "" : "; did you mean '" + near + "'?"),
                 question.name, -1};
  }
  ASSAY_TRY_ASSIGN(const Printed parts, split_printed(printed));
  return Builder(question, request).take(parts);
}

}  // namespace assay
