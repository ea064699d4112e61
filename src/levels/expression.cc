#include "levels/expression.h"

#include <muParser.h>

#include <cmath>
#include <limits>
#include <utility>

namespace assay {
namespace {

constexpr const char* kNameChars =
    "0123456789_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

}  // namespace

struct Expression::Parser {
  mu::Parser parser;
  std::vector<double> values;
};

Expression::Expression(std::string text, std::unique_ptr<Parser> parser)
    : text_(std::move(text)), parser_(std::move(parser)) {}
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

Result<Expression> Expression::parse(const std::string& text) {
  auto parser = std::make_unique<Parser>();
  Expression expression(text, std::move(parser));
  mu::Parser& engine = expression.parser_->parser;
  try {
    engine.DefineNameChars(kNameChars);
    engine.SetExpr(text);
    for (const auto& [name, place] : engine.GetUsedVar()) expression.names_.push_back(name);
    std::vector<double>& values = expression.parser_->values;
    values.assign(expression.names_.size(), 1);
    for (size_t i = 0; i < values.size(); ++i) engine.DefineVar(expression.names_[i], &values[i]);
    (void)engine.Eval();
  } catch (const mu::ParserError& error) {
    return Error{ErrorCode::kFormat, "'" + text + "' is no formula: " + error.GetMsg(), "", -1};
  }
  return expression;
}

double Expression::evaluate(const std::vector<double>& values) const {
  // The parser holds addresses of these cells: they stay where they are.
  for (size_t i = 0; i < parser_->values.size(); ++i) {
    parser_->values[i] = i < values.size() ? values[i] : std::numeric_limits<double>::quiet_NaN();
  }
  try {
    const double value = parser_->parser.Eval();
    return std::isfinite(value) ? value : std::numeric_limits<double>::quiet_NaN();
  } catch (const mu::ParserError&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace assay
