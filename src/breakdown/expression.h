#pragma once

// An arithmetic expression over named values. The only user of muParser.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay {

class Expression {
 public:
  // Names consist of letters, digits, '_' and '.', like counter names. Fails on invalid syntax.
  static Result<Expression> parse(const std::string& text);
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();

  const std::string& text() const { return text_; }
  const std::vector<std::string>& names() const { return names_; }  // sorted
  // values: one per entry of names(). NaN if the result is undefined.
  double evaluate(const std::vector<double>& values) const;

 private:
  struct Parser;
  Expression(std::string text, std::unique_ptr<Parser> parser);

  std::string text_;
  std::vector<std::string> names_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace assay
