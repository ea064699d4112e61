#include "report/document/columns.h"

namespace assay {

Column column_of(const ResultKey& key, const Look& look) {
  return {key.key, key.title, key.unit, look.align, look.elastic, look.show};
}

Item fact(const ResultKey& key, Value value, std::string note, Show show) {
  return {key.key, key.title, std::move(value), key.unit, std::move(note), show};
}

Item data_fact(const ResultKey& key, Value value) {
  return fact(key, std::move(value), {}, Show::kDataOnly);
}

}  // namespace assay
