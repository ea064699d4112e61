// Forwards Eigen's BLAS calls to OpenBLAS, which is loaded at the first call. Linked directly,
// OpenBLAS would start its threads and reserve 100 MB of address space in every process before
// main, even if it multiplies nothing; with limited threads or address space the process then hangs
// or crashes. OpenBLAS runs with one thread, because a different summation order changes the last
// bits and every machine must write the same result.
//
// Without OpenBLAS, the plain loops below compute the same, several times slower.

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdlib>
#include <vector>

namespace {

// OpenBLAS retries forever if it cannot get its memory, so load it only if its buffers fit.
bool has_room() {
  constexpr size_t kWanted = size_t{512} << 20;
  void* const tried = ::mmap(nullptr, kWanted, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (tried == MAP_FAILED) return false;
  ::munmap(tried, kWanted);
  return true;
}

// Address of an OpenBLAS symbol; null if OpenBLAS or the symbol is missing.
void* find(const char* name) {
  static void* const kLibrary = []() -> void* {
    if (!has_room()) return nullptr;
    ::setenv("OPENBLAS_NUM_THREADS", "1", 1);
    void* opened = ::dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    return opened != nullptr ? opened : ::dlopen("libopenblas.so", RTLD_NOW | RTLD_LOCAL);
  }();
  return kLibrary == nullptr ? nullptr : ::dlsym(kLibrary, name);
}

// ---- Fallback loops; matrices are column-major ----

bool is(const char* flag, char letter) { return (*flag & ~0x20) == letter; }

// op(A) of a stored matrix. The elements of a triangular matrix that are not stored are 0.
struct Operand {
  const double* data;
  int rows_apart;  // distance between columns as stored
  bool transposed = false;
  bool triangular = false;
  bool lower = false;  // as stored
  bool unit = false;

  double at(int i, int j) const {
    if (transposed) {
      const int k = i;
      i = j;
      j = k;
    }
    if (triangular && unit && i == j) return 1;
    if (triangular && (lower ? i < j : i > j)) return 0;
    return data[i + static_cast<long>(j) * rows_apart];
  }
  // True if op(A) is lower triangular.
  bool is_lower() const { return lower != transposed; }
};

void multiply(int m, int n, int k, double alpha, const Operand& a, const Operand& b, double beta,
              double* c, int apart) {
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += a.at(i, l) * b.at(l, j);
      double& to = c[i + static_cast<long>(j) * apart];
      to = alpha * sum + (beta == 0 ? 0 : beta * to);
    }
  }
}

// x := op(A) x, or x := op(A)^-1 x if `solve`; x has n elements with the stride `step`.
void apply(const Operand& a, int n, double* x, long step, bool solve) {
  const bool downwards = a.is_lower() == solve;
  for (int turn = 0; turn < n; ++turn) {
    const int i = downwards ? turn : n - 1 - turn;
    double sum = solve ? x[i * step] : a.at(i, i) * x[i * step];
    const int first = a.is_lower() ? 0 : i + 1;
    const int end = a.is_lower() ? i : n;
    for (int j = first; j < end; ++j) sum += (solve ? -1 : 1) * a.at(i, j) * x[j * step];
    x[i * step] = solve ? sum / a.at(i, i) : sum;
  }
}

// The same for all columns of B, or for its rows if A is on the right: B op(A) = (op(A)^T B^T)^T.
void apply_to_matrix(const char* side, Operand a, int m, int n, double alpha, double* b, int apart,
                     bool solve) {
  const bool left = is(side, 'L');
  if (!left) a.transposed = !a.transposed;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) b[i + static_cast<long>(j) * apart] *= alpha;
  }
  for (int v = 0; v < (left ? n : m); ++v) {
    apply(a, left ? m : n, left ? b + static_cast<long>(v) * apart : b + v, left ? 1 : apart,
          solve);
  }
}

// First element of a vector of n elements; a vector with a negative step is stored backwards.
template <typename T>
T* begin_of(T* x, int n, int step) {
  return step < 0 ? x - static_cast<long>(n - 1) * step : x;
}

}  // namespace

extern "C" {

using Flag = const char*;
using Int = const int*;
using In = const double*;
using Out = double*;

// Calls OpenBLAS's function of the same name and returns, if there is one.
#define ASSAY_PASS_ON(name, ...)                                             \
  static auto* const found = reinterpret_cast<decltype(&name)>(find(#name)); \
  if (found != nullptr && found != &name) return found(__VA_ARGS__)

int daxpy_(Int n, In alpha, In x, Int xstep, Out y, Int ystep) {
  ASSAY_PASS_ON(daxpy_, n, alpha, x, xstep, y, ystep);
  x = begin_of(x, *n, *xstep);
  y = begin_of(y, *n, *ystep);
  for (long i = 0; i < *n; ++i) y[i * *ystep] += *alpha * x[i * *xstep];
  return 0;
}

int dgemm_(Flag opa, Flag opb, Int m, Int n, Int k, In alpha, In a, Int lda, In b, Int ldb, In beta,
           Out c, Int ldc) {
  ASSAY_PASS_ON(dgemm_, opa, opb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  multiply(*m, *n, *k, *alpha, {a, *lda, !is(opa, 'N')}, {b, *ldb, !is(opb, 'N')}, *beta, c, *ldc);
  return 0;
}

int dgemv_(Flag op, Int m, Int n, In alpha, In a, Int lda, In x, Int xstep, In beta, Out y,
           Int ystep) {
  ASSAY_PASS_ON(dgemv_, op, m, n, alpha, a, lda, x, xstep, beta, y, ystep);
  const Operand matrix = {a, *lda, !is(op, 'N')};
  const int rows = matrix.transposed ? *n : *m;
  const int columns = matrix.transposed ? *m : *n;
  x = begin_of(x, columns, *xstep);
  y = begin_of(y, rows, *ystep);
  for (int i = 0; i < rows; ++i) {
    double sum = 0;
    for (int j = 0; j < columns; ++j) sum += matrix.at(i, j) * x[static_cast<long>(j) * *xstep];
    double& to = y[static_cast<long>(i) * *ystep];
    to = *alpha * sum + (*beta == 0 ? 0 : *beta * to);
  }
  return 0;
}

int dsymv_(Flag uplo, Int n, In alpha, In a, Int lda, In x, Int xstep, In beta, Out y, Int ystep) {
  ASSAY_PASS_ON(dsymv_, uplo, n, alpha, a, lda, x, xstep, beta, y, ystep);
  x = begin_of(x, *n, *xstep);
  y = begin_of(y, *n, *ystep);
  const Operand stored = {a, *lda};
  for (int i = 0; i < *n; ++i) {
    double sum = 0;
    for (int j = 0; j < *n; ++j) {
      const bool there = is(uplo, 'L') ? i >= j : i <= j;
      sum += (there ? stored.at(i, j) : stored.at(j, i)) * x[static_cast<long>(j) * *xstep];
    }
    double& to = y[static_cast<long>(i) * *ystep];
    to = *alpha * sum + (*beta == 0 ? 0 : *beta * to);
  }
  return 0;
}

int dsyrk_(Flag uplo, Flag op, Int n, Int k, In alpha, In a, Int lda, In beta, Out c, Int ldc) {
  ASSAY_PASS_ON(dsyrk_, uplo, op, n, k, alpha, a, lda, beta, c, ldc);
  const Operand left = {a, *lda, !is(op, 'N')};
  for (int j = 0; j < *n; ++j) {
    const int first = is(uplo, 'L') ? j : 0;
    const int end = is(uplo, 'L') ? *n : j + 1;
    for (int i = first; i < end; ++i) {
      double sum = 0;
      for (int l = 0; l < *k; ++l) sum += left.at(i, l) * left.at(j, l);
      double& to = c[i + static_cast<long>(j) * *ldc];
      to = *alpha * sum + (*beta == 0 ? 0 : *beta * to);
    }
  }
  return 0;
}

int dtrmm_(Flag side, Flag uplo, Flag op, Flag diag, Int m, Int n, In alpha, In a, Int lda, Out b,
           Int ldb) {
  ASSAY_PASS_ON(dtrmm_, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb);
  const Operand matrix = {a, *lda, !is(op, 'N'), true, is(uplo, 'L'), is(diag, 'U')};
  apply_to_matrix(side, matrix, *m, *n, *alpha, b, *ldb, false);
  return 0;
}

int dtrmv_(Flag uplo, Flag op, Flag diag, Int n, In a, Int lda, Out x, Int xstep) {
  ASSAY_PASS_ON(dtrmv_, uplo, op, diag, n, a, lda, x, xstep);
  const Operand matrix = {a, *lda, !is(op, 'N'), true, is(uplo, 'L'), is(diag, 'U')};
  apply(matrix, *n, begin_of(x, *n, *xstep), *xstep, false);
  return 0;
}

int dtrsm_(Flag side, Flag uplo, Flag op, Flag diag, Int m, Int n, In alpha, In a, Int lda, Out b,
           Int ldb) {
  ASSAY_PASS_ON(dtrsm_, side, uplo, op, diag, m, n, alpha, a, lda, b, ldb);
  const Operand matrix = {a, *lda, !is(op, 'N'), true, is(uplo, 'L'), is(diag, 'U')};
  apply_to_matrix(side, matrix, *m, *n, *alpha, b, *ldb, true);
  return 0;
}

}  // extern "C"
