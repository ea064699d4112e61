#include "breakdown/expression.h"

#include <muParserDLL.h>

#include <cmath>
#include <limits>
#include <utility>

#include "base/dynamic_library.h"

namespace assay {
namespace {

constexpr const char* kNameChars =
    "0123456789_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

// muParser's C interface, loaded at the first formula because it depends on OpenMP.
struct Library {
  decltype(&::mupCreate) create;
  decltype(&::mupRelease) release;
  decltype(&::mupDefineNameChars) name_chars;
  decltype(&::mupSetExpr) set;
  decltype(&::mupGetExprVarNum) used;
  decltype(&::mupGetExprVar) used_at;
  decltype(&::mupDefineVar) define;
  decltype(&::mupEval) evaluate;
  decltype(&::mupError) failed;  // true after an error; reading it resets it
  decltype(&::mupGetErrorMsg) message;
};

Result<Library> open_library() {
  ASSAY_TRY_ASSIGN(
      const DynamicLibrary file,
      DynamicLibrary::open({"libmuparser.so.2", "libmuparser.so.2.2.6", "libmuparser.so"},
                           "muParser is not here, which reads formulas of counters: "
                           "install libmuparser2v5"));
  Library library = {};
  ASSAY_TRY(file.bind("mupCreate", library.create));
  ASSAY_TRY(file.bind("mupRelease", library.release));
  ASSAY_TRY(file.bind("mupDefineNameChars", library.name_chars));
  ASSAY_TRY(file.bind("mupSetExpr", library.set));
  ASSAY_TRY(file.bind("mupGetExprVarNum", library.used));
  ASSAY_TRY(file.bind("mupGetExprVar", library.used_at));
  ASSAY_TRY(file.bind("mupDefineVar", library.define));
  ASSAY_TRY(file.bind("mupEval", library.evaluate));
  ASSAY_TRY(file.bind("mupError", library.failed));
  ASSAY_TRY(file.bind("mupGetErrorMsg", library.message));
  return library;
}

const Result<Library>& formulas() {
  static const Result<Library> library = open_library();
  return library;
}

}  // namespace

struct Expression::Parser {
  muParserHandle_t handle = formulas()->create(muBASETYPE_FLOAT);
  std::vector<double> values;

  Parser() = default;
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() { formulas()->release(handle); }

  bool failed() const { return formulas()->failed(handle) != 0; }
};

Expression::Expression(std::string text, std::unique_ptr<Parser> parser)
    : text_(std::move(text)), parser_(std::move(parser)) {}
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

Result<Expression> Expression::parse(const std::string& text) {
  if (!formulas()) return formulas().error();
  const Library& library = *formulas();
  Expression expression(text, std::make_unique<Parser>());
  Parser& parser = *expression.parser_;
  const auto no_formula = [&] {
    return Error{ErrorCode::kFormat,
                 "'" + text + "' is not a formula: " + library.message(parser.handle), "", -1};
  };
  library.name_chars(parser.handle, kNameChars);
  library.set(parser.handle, text.c_str());
  if (parser.failed()) return no_formula();
  const int used = library.used(parser.handle);
  if (parser.failed()) return no_formula();
  for (int i = 0; i < used; ++i) {
    const char* name = nullptr;
    double* place = nullptr;
    library.used_at(parser.handle, static_cast<unsigned>(i), &name, &place);
    expression.names_.emplace_back(name);
  }
  parser.values.assign(expression.names_.size(), 1);
  for (size_t i = 0; i < parser.values.size(); ++i) {
    library.define(parser.handle, expression.names_[i].c_str(), &parser.values[i]);
    if (parser.failed()) return no_formula();
  }
  (void)library.evaluate(parser.handle);
  if (parser.failed()) return no_formula();
  return expression;
}

double Expression::evaluate(const std::vector<double>& values) const {
  // The parser stores the addresses of these values, so they must not move.
  for (size_t i = 0; i < parser_->values.size(); ++i) {
    parser_->values[i] = i < values.size() ? values[i] : std::numeric_limits<double>::quiet_NaN();
  }
  const double value = formulas()->evaluate(parser_->handle);
  const bool fine = !parser_->failed() && std::isfinite(value);
  return fine ? value : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace assay
