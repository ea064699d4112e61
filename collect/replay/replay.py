#!/usr/bin/env python3
"""assay-replay in Python: runs the operators of a kernel database one at a time, each repeatedly as
torch.ops.NAMESPACE.OPERATOR.OVERLOAD(...) with the device synchronized after every call, under a tracer. Started by
`assay replay --dispatch-through python`; needs PyTorch (1.13 or newer) and nothing else.

    replay.py JOB RESULTS          run, and append one line of JSON per entry
    replay.py --check JOB RESULTS  rebuild every call with shapes only, and run none
    replay.py --about              one line of JSON: PyTorch, device, driver

job.h defines the job, main.cc the labels, results and exit codes, arguments.cc the arguments.
tests/collect/check_replay.py compares both programs call by call. The time differs by PyTorch's Python binding,
which parses the arguments before the dispatcher runs.
"""

import ctypes
import json
import os
import re
import sys
import time

WRONG_USE, CANNOT_WRITE, DEVICE_LOST = 2, 3, 4

try:
    import torch
except ImportError as missing:
    print(f"replay.py: {sys.executable} has no PyTorch: {missing}", file=sys.stderr)
    sys.exit(WRONG_USE)

# Inputs that need more come from a larger device or are corrupt.
MOST_BYTES_HOST, MOST_BYTES_DEVICE = 8 << 30, 96 << 30
MOST_INPUTS, MOST_TENSORS, MOST_DIMS = 256, 4096, 64
NO_FIT = -1000
INT64 = 1 << 63


class JobError(Exception):
    """The job file is invalid."""


class OperatorMissing(Exception):
    """This PyTorch has no operator of that name."""


class CannotRebuild(Exception):
    """The inputs cannot be rebuilt; the message names the input and the reason."""


# ---------------------------------------------------------------- the job (job.h)

class Input:
    """One recorded input. shapes, strides: None if unknown, else (nested, list of lists of integers)."""

    def __init__(self, fields):
        self.type = fields[0]
        self.nested, self.shapes = shapes_of(fields[1])
        self.strides_nested, self.strides = shapes_of(fields[2])
        self.value = fields[4]
        self.value_told = fields[3] == "1" and self.value != ""

    def sizes(self):
        """Shape of a tensor; None if unrecorded."""
        return None if self.shapes is None or self.nested else self.shapes[0]

    def has_dims(self):
        return bool(self.sizes())

    def is_untyped_tensor(self):
        # Profilers of 2021 recorded shapes without types: an input with dimensions is a tensor.
        return self.type == "" and self.has_dims()

    def is_tensor(self):
        return self.type in ELEMENTS or self.is_untyped_tensor()

    def is_tensor_list(self):
        return self.type == "TensorList" or self.nested

    def is_unknown_tensor(self):
        """A tensor of a type that this PyTorch or this program does not know."""
        if self.type in ("", "Scalar", "ScalarList", "TensorList") or self.is_tensor():
            return False
        return self.has_dims() or self.type.startswith("c10::")


class Entry:
    def __init__(self, fields):
        self.number, self.op, self.elements, self.list_type = int(fields[0]), fields[1], int(fields[2]), fields[3]
        self.inputs_told = int(fields[4]) >= 0
        self.inputs = []


class Job:
    def __init__(self):
        self.warmups, self.runs, self.entry_seconds, self.device = 50, 150, 20.0, "cpu"
        self.entries = []


def shapes_of(text):
    """[1, 2] or [[1, 2], [3]], nothing deeper, as (nested, list of shapes); (False, None) if unknown."""
    if text == "":
        return False, None
    value = json.loads(text)
    nested = isinstance(value, list) and bool(value) and isinstance(value[0], list)
    shapes = value if nested else [value]
    for shape in shapes:
        if not isinstance(shape, list) or not all(type(size) is int and -INT64 <= size < INT64 for size in shape):
            raise JobError(f"no shape: {text[:60]}")
    if len(shapes) > MOST_TENSORS:
        raise JobError("a list of too many tensors")
    return nested, shapes


def take_line(job, fields):
    what = fields[0]
    if len(fields) != (6 if what in ("entry", "input") else 2):
        raise JobError(f"{len(fields)} fields")
    if what == "entry":
        job.entries.append(Entry(fields[1:]))
    elif what == "input":
        if not job.entries or len(job.entries[-1].inputs) >= MOST_INPUTS:
            raise JobError("an input before any entry, or too many of them")
        job.entries[-1].inputs.append(Input(fields[1:]))
    elif what in ("warmups", "runs"):
        setattr(job, what, int(fields[1]))
    elif what == "device":
        job.device = fields[1]
    elif what == "entry_seconds":
        job.entry_seconds = float(fields[1])
    else:
        raise JobError(f"'{what[:40]}' is unknown")


def unescaped(text):
    return re.sub(r"%([0-9A-Fa-f]{2})", lambda code: chr(int(code[1], 16)), text)


def read_job(path):
    # One character per byte: operator names are bytes in PyTorch, and the results repeat them.
    with open(path, encoding="latin-1", newline="\n") as file:
        lines = file.read().split("\n")
    if lines[0] != "assay-replay-job\t1":
        raise JobError(f"{path}: not a job of this program")
    job = Job()
    for number, line in enumerate(lines[1:], 2):
        if line == "" and number == len(lines):
            break
        try:
            take_line(job, [unescaped(field) for field in line.split("\t")])
        except (JobError, ValueError, RecursionError) as error:
            raise JobError(f"{path}, line {number}: {error}") from error
    if job.warmups < 0 or job.runs < 1:
        raise JobError(f"{path}: no runs")
    return job


# ---------------------------------------------------------------- values as text

def as_integer(text):
    if not re.fullmatch(r"\s*[+-]?[0-9]+", text):
        return None
    return max(-INT64, min(INT64 - 1, int(text)))


def as_double(text):
    if not re.fullmatch(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|\s*[+-]?(inf|infinity|nan)", text,
                        re.IGNORECASE):
        return None
    return float(text)


def as_bool(text):
    return {"True": True, "true": True, "False": False, "false": False}.get(text)


def as_list(text):
    """Splits '[1, 2]' into its elements; None if it is not a list."""
    if len(text) < 2 or text[0] != "[" or text[-1] != "]":
        return None
    if text == "[]":
        return []
    parts = [part.strip(" ") for part in text[1:-1].split(",")]
    return None if any(part == "" for part in parts) else parts


# ---------------------------------------------------------------- types

# The names of the profiler, of PyTorch, and of C++ for messages.
TYPES = (("float", "float32", "Float"), ("double", "float64", "Double"), ("c10::Half", "float16", "Half"),
         ("c10::BFloat16", "bfloat16", "BFloat16"), ("long int", "int64", "Long"), ("long", "int64", "Long"),
         ("int", "int32", "Int"), ("short int", "int16", "Short"), ("short", "int16", "Short"),
         ("signed char", "int8", "Char"), ("unsigned char", "uint8", "Byte"), ("bool", "bool", "Bool"),
         ("c10::complex<float>", "complex64", "ComplexFloat"), ("c10::complex<double>", "complex128", "ComplexDouble"),
         ("c10::complex<c10::Half>", "complex32", "ComplexHalf"),
         ("c10::Float8_e4m3fn", "float8_e4m3fn", "Float8_e4m3fn"), ("c10::Float8_e5m2", "float8_e5m2", "Float8_e5m2"),
         ("c10::Float8_e4m3fnuz", "float8_e4m3fnuz", "Float8_e4m3fnuz"),
         ("c10::Float8_e5m2fnuz", "float8_e5m2fnuz", "Float8_e5m2fnuz"),
         ("short unsigned int", "uint16", "UInt16"), ("unsigned short", "uint16", "UInt16"),
         ("unsigned int", "uint32", "UInt32"), ("long unsigned int", "uint64", "UInt64"),
         ("unsigned long", "uint64", "UInt64"), ("c10::Float8_e8m0fnu", "float8_e8m0fnu", "Float8_e8m0fnu"),
         ("c10::Float4_e2m1fn_x2", "float4_e2m1fn_x2", "Float4_e2m1fn_x2"))
ELEMENTS = {profiled: getattr(torch, ours) for profiled, ours, _ in TYPES if hasattr(torch, ours)}
SHOWN = {getattr(torch, ours): shown for _, ours, shown in TYPES if hasattr(torch, ours)}
PACKED = getattr(torch, "float4_e2m1fn_x2", None)  # two numbers in a byte; no operator converts to this type
WRAPPED = {torch.float64: 1.0, torch.int64: 1, torch.bool: True}

NUMBERS = ("NumberType", "FloatType", "BoolType", "IntType", "SymIntType")
INTEGERS = ("IntType", "SymIntType")


def without_optional(kind_of):
    return kind_of.getElementType() if kind_of.kind() == "OptionalType" else kind_of


def is_list_of(declared, kind):
    return declared.kind() == "ListType" and declared.getElementType().kind() == kind


def is_list_of_optional_tensors(declared):
    return is_list_of(declared, "OptionalType") and \
        without_optional(declared.getElementType()).kind() == "TensorType"


def element_bytes(dtype):
    return torch.empty((), dtype=dtype).element_size()


# ---------------------------------------------------------------- which overload

def scalar_fit(kind, told, text):
    if not told:
        return 1 if kind in NUMBERS else NO_FIT
    boolean, integer, number = as_bool(text) is not None, as_integer(text) is not None, as_double(text) is not None
    if kind == "NumberType":
        return 1 if boolean else 2 if number else NO_FIT
    if kind in INTEGERS:
        return 3 if integer else NO_FIT
    if kind == "FloatType":
        return 1 if integer else 3 if number else NO_FIT
    return 3 if kind == "BoolType" and boolean else NO_FIT


def list_fit(declared, given):
    if declared.kind() != "ListType":
        return NO_FIT
    kind = declared.getElementType().kind()
    numbers = kind in INTEGERS or kind == "FloatType"
    if not numbers and kind != "BoolType":
        return NO_FIT
    parts = as_list(given.value)
    if parts is None:
        return 1 if numbers else NO_FIT
    return min([3] + [scalar_fit(kind, True, part) for part in parts])


def argument_fit(argument, given):
    """How well a recorded input fits a declared argument; NO_FIT: not at all."""
    declared = without_optional(argument.type)
    if given.is_tensor():
        return 3 if declared.kind() == "TensorType" else NO_FIT
    if given.type == "Scalar":
        return scalar_fit(declared.kind(), given.value_told, given.value)
    if given.type == "ScalarList":
        return list_fit(declared, given)
    if given.is_tensor_list():
        if is_list_of(declared, "TensorType"):
            return 3
        return 2 if is_list_of_optional_tensors(declared) else NO_FIT
    # Nothing recorded: None, a default, a device, a string, an undefined tensor.
    if argument.type.kind() == "OptionalType":
        return 2
    return 1 if argument.has_default_value() else 0


def is_output(argument):
    return argument.kwarg_only and argument.alias_info is not None and argument.alias_info.is_write


def may_lack(argument):
    return argument.has_default_value() or argument.type.kind() == "OptionalType"


def schema_fit(schema, inputs):
    if len(inputs) > len(schema.arguments):
        return NO_FIT
    total = 0
    for place, argument in enumerate(schema.arguments):
        recorded = place < len(inputs)
        if not recorded and not may_lack(argument):
            return NO_FIT
        fit = argument_fit(argument, inputs[place]) if recorded else -4
        if fit == NO_FIT:
            return NO_FIT
        total += fit - (2 if is_output(argument) else 0)
    return total


def takes_tensors_only(schema):
    """Without recorded inputs, an operator can be called only if all of its required arguments are tensors."""
    needed = [argument for argument in schema.arguments if not may_lack(argument)]
    return bool(needed) and all(argument.type.kind() == "TensorType" and not is_output(argument) for argument in needed)


def overloads_of(op):
    """(overload, schema) of every overload with that name in the dispatcher. TorchScript-only operators are excluded.
    """
    try:
        _, names = torch._C._jit_get_operation(op)
    except RuntimeError:
        names = None
    found = []
    for name in sorted(names or []):
        if torch._C._dispatch_has_kernel(f"{op}.{name}" if name else op):
            found.append((name, torch._C._get_schema(op, name)))
    if not found:
        raise OperatorMissing(f"this PyTorch has no operator {op}")
    return found


def best_overload(inputs, told, overloads):
    best, best_fit = None, NO_FIT
    for name, schema in overloads:
        fit = schema_fit(schema, inputs) if told else 0 if takes_tensors_only(schema) else NO_FIT
        if fit > best_fit:
            best, best_fit = (name, schema), fit
    return best


def choose_overload(entry, assumed):
    """Drops leading inputs if the entry fits no overload with them: profilers before PyTorch 1.10 recorded the whole
    interpreter stack, with the call's own inputs last."""
    overloads = overloads_of(entry.op)
    for first in range(max(1, len(entry.inputs))):
        best = best_overload(entry.inputs[first:], entry.inputs_told, overloads)
        if best is None:
            continue
        if first > 0:
            assumed.append(f"the first {first} recorded inputs belong to another call")
            entry.inputs = entry.inputs[first:]
        return best
    raise CannotRebuild(f"no overload of {entry.op} takes what was recorded" if entry.inputs_told
                        else "inputs were not recorded, and no overload takes tensors alone")


# ---------------------------------------------------------------- arguments

def any_number(op, argument):
    """Numbers that affect the result but not the amount of computation. Profilers before PyTorch 2.1 recorded none. A
    dimension or an exponent does not qualify."""
    if argument in ("eps", "epsilon"):
        return 1e-5
    if argument in ("value", "threshold"):
        return 1.0
    if argument in ("min", "max", "min_val", "max_val"):
        return 1.0 if "clamp" in op or "tanh" in op else None
    compares = op in ("aten::eq", "aten::ne", "aten::lt", "aten::le", "aten::gt", "aten::ge")
    return 1.0 if compares and argument == "other" else None


def shown_tensor(tensor):
    sizes, strides = (",".join(map(str, numbers)) for numbers in (tensor.size(), tensor.stride()))
    return f"{SHOWN[tensor.dtype]}[{sizes}|{strides}]"


def shown_double(number):
    if number == int(number) if abs(number) < 1e10 else False:
        return ("-" if number == 0 and str(number)[0] == "-" else "") + f"{int(number)}."
    return f"{number:.17g}"


def shown(value):
    """The value as assay-replay writes it."""
    if isinstance(value, torch.Tensor):
        return shown_tensor(value)
    if isinstance(value, float):
        return shown_double(value)
    if isinstance(value, (list, tuple)):
        if value and isinstance(value[0], torch.Tensor):
            return "[" + "".join(shown_tensor(one) + ";" for one in value) + "]"
        return "[" + ", ".join(map(shown, value)) + "]"
    return str(value)


class Argument:
    """A value for one declared argument. left_out: it is the schema's default, which callers do not pass."""

    def __init__(self, value, text=None, left_out=False):
        self.value, self.left_out = value, left_out
        self.text = shown(value) if text is None else text


class Call:
    """A repeatable call."""

    def __init__(self, op, overload, schema, arguments, assumed):
        namespace, _, name = op.partition("::")
        self.function = getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")
        self.assumed = assumed
        self.text = f"{op}{'.' + overload if overload else ''}({', '.join(one.text for one in arguments)})"
        plain = [one for one, declared in zip(arguments, schema.arguments) if not declared.kwarg_only]
        while plain and plain[-1].left_out:
            plain.pop()
        self.plain = [one.value for one in plain]
        self.named = {declared.name: one.value for one, declared in zip(arguments, schema.arguments)
                      if declared.kwarg_only and not one.left_out}


class Builder:
    def __init__(self, entry, device, most_bytes):
        self.entry, self.device, self.most_bytes = entry, torch.device(device), most_bytes
        self.bytes = 0
        self.smallest = 0  # smallest size of the tensors so far
        self.where = ""
        self.assumed = []
        self.schema = None

    def build(self):
        for place, given in enumerate(self.entry.inputs):
            if given.is_unknown_tensor():
                self.where = f"input {place + 1}"
                self.fail(f"a tensor of '{given.type[:60]}' cannot be made here")
        overload, self.schema = choose_overload(self.entry, self.assumed)
        made = []
        for place, argument in enumerate(self.schema.arguments):
            self.where = f"input {place + 1} ({argument.name})"
            recorded = place < len(self.entry.inputs)
            made.append(self.value_of(argument, self.entry.inputs[place]) if recorded else self.unrecorded(argument))
        return Call(self.entry.op, overload, self.schema, made, self.assumed)

    def fail(self, why):
        raise CannotRebuild(f"{self.where}: {why}")

    def assume(self, what):
        self.assumed.append(f"{self.where}: {what}")

    def value_of(self, argument, given):
        declared = without_optional(argument.type)
        if given.is_tensor():
            return self.tensor_of(argument, given)
        if given.type == "Scalar":
            return self.scalar_of(argument, declared.kind(), given)
        if given.type == "ScalarList":
            return self.list_of(argument, declared.getElementType().kind(), given)
        if given.is_tensor_list():
            return self.tensors_of(given)
        return self.unrecorded(argument)

    def unrecorded(self, argument):
        """None, a default, or the device of the replay. Any other unrecorded argument is an error."""
        optional = argument.type.kind() == "OptionalType"
        kind = without_optional(argument.type).kind()
        if kind == "DeviceObjType" and (not optional or not self.has_tensors()):
            return Argument(self.device)
        if argument.has_default_value():
            if kind == "StringType":
                self.assume(f"strings are not recorded: {argument.default_value}")
            return self.default_of(argument)
        if optional:
            return Argument(None)
        if is_list_of_optional_tensors(argument.type):
            return self.indices(argument)
        if argument.name == "normalized_shape":
            return self.normalized_shape()
        if kind == "TensorType":
            return Argument(None, "undefined") if self.entry.inputs_told else self.whole_launch(argument)
        number = any_number(self.entry.op, argument.name)
        if number is not None:
            return self.assumed_number(kind, number)
        if argument.name == "output_mask":
            self.assume("not recorded: all three gradients")
            return Argument([True, True, True])
        return self.fail(f"a value of type {argument.type} was not recorded")

    def default_of(self, argument):
        return Argument(argument.default_value, left_out=True)

    def sizes_of(self, name):
        """Sizes of the input for the argument of that name, if it is a tensor."""
        for argument, given in zip(self.schema.arguments, self.entry.inputs):
            if argument.name == name and given.is_tensor() and given.sizes() is not None:
                return given.sizes()
        return None

    def normalized_shape(self):
        # Profilers before PyTorch 2.1 do not record it; it equals the weight's shape.
        weight = self.sizes_of("weight")
        if not weight:
            self.fail("neither it nor a weight was recorded")
        self.assume("not recorded: the weight's shape")
        return Argument(list(weight))

    def indices(self, argument):
        """Profilers do not record lists that may contain None: the number and shapes of the index tensors are unknown.
        They follow from the values' shape or the launch size."""
        own = self.sizes_of("self")
        if argument.name != "indices" or not own:
            self.fail("a list of tensors that may be None is not recorded")
        values = self.sizes_of("values")
        places = places_of_values(own, values) if values is not None else None
        tensors, shape = places or self.places_of_launch(own)
        if tensors == 0:
            self.fail("not recorded, and the number of lookups is unknown")
        self.assume(f"not recorded: {tensors} tensor(s) of places, of shape {list(shape)}")
        made = [self.strided_tensor(torch.int64, shape, None) for _ in range(tensors)]
        for tensor, elements in made:
            self.fill(tensor, elements, True)
        return Argument([tensor for tensor, _ in made])

    def places_of_launch(self, own):
        """Of the two indexing kernels, index_elementwise_kernel processes four elements per thread and
        vectorized_gather_kernel 16 bytes."""
        first = ELEMENTS.get(self.entry.inputs[0].type, torch.float32)
        for tensors in range(1, len(own) + 1):
            row = 1
            for size in own[tensors:]:
                row *= size
            if row < 1 or row > self.most_bytes:
                continue
            for each in (4, 16 // element_bytes(first)):
                elements = self.entry.elements * each
                if elements > 0 and elements % row == 0:
                    return tensors, [elements // row]
        return 0, []

    def whole_launch(self, argument):
        self.assume("inputs were not recorded: one element per thread of the launch")
        return self.make_tensor(argument, torch.float32, [max(1, self.entry.elements)], None)

    def has_tensors(self):
        return any(given.is_tensor() or given.nested for given in self.entry.inputs)

    def scalar_of(self, argument, kind, given):
        if given.value_told:
            return Argument(self.scalar_value(kind, given.value))
        if argument.has_default_value():
            self.assume("the value was not recorded: the default")
            return self.default_of(argument)
        if argument.type.kind() == "OptionalType":
            return Argument(None)
        number = any_number(self.entry.op, argument.name)
        if number is None:
            self.fail("the value was not recorded; PyTorch 2.1 and newer record it")
        return self.assumed_number(kind, number)

    def assumed_number(self, kind, number):
        text = f"{number:g}"
        self.assume(f"the value was not recorded: {text}")
        return Argument(self.scalar_value(kind, text))

    def scalar_value(self, kind, text):
        boolean, integer, number = as_bool(text), as_integer(text), as_double(text)
        if boolean is not None and kind in ("BoolType", "NumberType"):
            return boolean
        if integer is not None and (kind in INTEGERS or kind == "NumberType"):
            return integer
        if number is not None and kind in ("FloatType", "NumberType"):
            return number
        return self.fail(f"'{text[:60]}' is not a value for it")

    def list_of(self, argument, kind, given):
        parts = as_list(given.value)
        if parts is not None and kind in (*INTEGERS, "FloatType", "BoolType"):
            return Argument([self.scalar_value(kind, part) for part in parts])
        if parts is not None:
            self.fail("lists of this type are not rebuilt")
        if not argument.has_default_value():
            self.fail("the values of the list were not recorded")
        self.assume("the values were not recorded: the default")
        return self.default_of(argument)

    def tensor_of(self, argument, given):
        if given.is_untyped_tensor():
            self.assume("element types were not recorded: float")
        dtype = ELEMENTS.get(given.type, torch.float32)
        sizes = given.sizes()
        if sizes is None:
            self.fail("its shape was not recorded")
        strided = given.strides is not None and not given.strides_nested and len(given.strides[0]) == len(sizes)
        if not sizes and self.is_wrapped_number(dtype):
            return self.wrapped_number(dtype)
        return self.make_tensor(argument, dtype, sizes, given.strides[0] if strided else None)

    def is_wrapped_number(self, dtype):
        """`x + 1` reaches the dispatcher as a CPU tensor without dimensions, which type promotion ignores. It is
        recorded like any tensor and recognized by a type of Python's numbers."""
        if dtype not in WRAPPED or len(self.entry.inputs) < 2:
            return False
        return any(other.is_tensor() and other.has_dims() for other in self.entry.inputs)

    def wrapped_number(self, dtype):
        self.assume("taken for a number of Python's, 1")
        tensor = torch.ones((), dtype=dtype)
        name = self.entry.op.partition("::")[2]
        # If an operator takes no Python number, PyTorch's own code makes the tensor.
        number = self.entry.op.startswith("aten::") and torch._C._should_allow_numbers_as_tensors(name)
        return Argument(WRAPPED[dtype] if number else tensor, shown_tensor(tensor))

    def tensors_of(self, given):
        if not given.nested and (given.shapes is None or given.shapes[0]):
            self.fail("the shapes of the list were not recorded")
        dtype = ELEMENTS.get(self.entry.list_type)
        if dtype is None:
            self.fail("the element type of tensor lists is not recorded or otherwise known")
        made = []
        for place, sizes in enumerate(given.shapes if given.nested else []):
            strided = given.strides_nested and place < len(given.strides) and len(given.strides[place]) == len(sizes)
            tensor, elements = self.strided_tensor(dtype, sizes, given.strides[place] if strided else None)
            self.fill(tensor, elements, False)
            made.append(tensor)
        if not made:
            self.fail("the shapes of the list were not recorded")
        self.assume(f"the element type of tensor lists is not recorded: {self.entry.list_type}")
        return Argument(made)

    def make_tensor(self, argument, dtype, sizes, strides):
        tensor, elements = self.strided_tensor(dtype, sizes, strides)
        # Integer tensors that index another tensor have one of these names.
        self.fill(tensor, elements, argument.name in ("index", "indices", "target", "offsets"))
        if self.smallest == 0 or self.entry.op == "aten::embedding":
            # Indices must stay below every size that they may index.
            self.smallest = min([size for size in (self.smallest, *tensor.size()) if size > 0], default=0)
        return Argument(tensor)

    def strided_tensor(self, dtype, sizes, strides):
        """(tensor, elements of its memory)"""
        if len(sizes) > MOST_DIMS:
            self.fail("too many dimensions")
        if any(number < 0 for number in (*sizes, *(strides or ()))):
            self.fail("a negative size or stride")
        elements = 1
        for size in sizes:
            elements *= size
        if strides is not None and elements > 0:
            elements = sum((size - 1) * stride for size, stride in zip(sizes, strides)) + 1
        size = elements * element_bytes(dtype)
        if size > self.most_bytes - self.bytes:
            self.fail("more memory than a replay takes")
        self.bytes += size
        if strides is None or elements == 0:
            return torch.empty(sizes, dtype=dtype, device=self.device), elements
        # Not a view: some operators refuse views.
        return torch.empty_strided(sizes, strides, dtype=dtype, device=self.device), elements

    def fill(self, tensor, elements, places):
        """Fills the tensor with values that every operator accepts: in (0, 1], ones, or valid indices. Fills the
        storage, because elements with stride 0 share memory."""
        if elements == 0 or self.device.type == "meta":
            return
        memory = tensor.as_strided((elements,), (1,), 0)
        if tensor.dtype == PACKED:
            memory.view(torch.uint8).fill_(0x22)  # two 4-bit ones
        elif places:
            memory.copy_(torch.arange(elements, device=self.device).remainder(max(1, self.smallest)))
        elif not tensor.dtype.is_floating_point and not tensor.dtype.is_complex:
            memory.fill_(1)
        else:
            memory.copy_(torch.rand(elements, device=self.device).mul_(-0.875).add_(1.0))


def places_of_values(own, values):
    """The shape of the values is that of the indices, then that of one indexed element."""
    for tensors in range(1, len(own) + 1):
        held = len(own) - tensors
        if len(values) > held and values[len(values) - held:] == own[tensors:]:
            return tensors, values[:len(values) - held]
    return None


# ---------------------------------------------------------------- labels and device (labels.h, device.h)

def labels():
    """(push, pop) of ranges for a tracer, and whether this PyTorch supports them."""
    try:
        torch.cuda.nvtx.range_push("assay-replay")
        torch.cuda.nvtx.range_pop()
    except RuntimeError:
        return lambda text: None, lambda: None, False
    return torch.cuda.nvtx.range_push, torch.cuda.nvtx.range_pop, True


def device_facts():
    """The GPU from its driver, as in assay-replay."""
    facts = {"gpu": "", "uuid": "", "driver": ""}
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return facts
    name, identity, number = ctypes.create_string_buffer(256), (ctypes.c_ubyte * 16)(), ctypes.c_int()
    if cuda.cuInit(0) != 0 or cuda.cuDeviceGetName(name, 256, 0) != 0:
        return facts
    facts["gpu"] = name.value.decode("latin-1")
    if cuda.cuDeviceGetUuid(identity, 0) == 0:
        facts["uuid"] = "GPU-" + re.sub(r"^(.{8})(.{4})(.{4})(.{4})", r"\1-\2-\3-\4-", bytes(identity).hex())
    if cuda.cuDriverGetVersion(ctypes.byref(number)) == 0:
        facts["driver"] = f"{number.value // 1000}.{number.value % 1000 // 10}"
    return facts


def about():
    cuda = torch.cuda.is_available()
    facts = device_facts() if cuda else {"gpu": "", "uuid": "", "driver": ""}
    # Without the suffix that distributors append, as in PyTorch's headers.
    version = re.match(r"[0-9]+(\.[0-9]+)*", torch.__version__)[0]
    return {"torch": version, "device": "cuda" if cuda else "cpu", **facts, "labels": labels()[2]}


# ---------------------------------------------------------------- the runs (main.cc)

def first_line(error):
    return (str(error) or type(error).__name__).split("\n")[0][:300]


class Replayer:
    def __init__(self, job, check_only):
        self.job, self.check_only = job, check_only
        self.device = "meta" if check_only else job.device
        self.cuda = self.device.startswith("cuda")
        self.push, self.pop, _ = labels()
        self.device_lost = False

    def replay(self, entry):
        answer = {"entry": entry.number, "status": "ok", "reason": "", "call": "", "assumed": [], "host_ns": []}
        host = not self.cuda and not self.check_only
        try:
            call = Builder(entry, self.device, MOST_BYTES_HOST if host else MOST_BYTES_DEVICE).build()
            answer.update(call=call.text, assumed=call.assumed)
            if not self.check_only:
                answer["host_ns"] = self.measure(entry, call)
        except OperatorMissing as error:
            answer.update(status="op_missing", reason=str(error))
        except CannotRebuild as error:
            answer.update(status="failed", reason=str(error))
        except Exception as error:  # any exception of PyTorch fails only this entry
            answer.update(status="failed", reason="it raised an error: " + first_line(error))
            self.device_lost = not self.device_answers()
        return answer

    def measure(self, entry, call):
        """Host nanoseconds of each measured call."""
        function, plain, named, clock = call.function, call.plain, call.named, time.perf_counter_ns
        deadline = time.monotonic() + self.job.entry_seconds
        host_ns = []
        self.synchronize()
        for _ in range(self.job.warmups):
            result = function(*plain, **named)
            self.synchronize()
            del result
            if time.monotonic() > deadline:
                break
        for run in range(self.job.runs):
            self.push(f"aten_dispatch|{entry.number}|{run}")
            begin = clock()
            result = function(*plain, **named)
            end = clock()
            self.pop()
            self.synchronize()
            # Frees the result outside the range.
            del result
            host_ns.append(end - begin)
            if time.monotonic() > deadline:
                break
        return host_ns

    def synchronize(self):
        if self.cuda:
            torch.cuda.synchronize()

    def device_answers(self):
        try:
            self.synchronize()
            return True
        except RuntimeError:
            return False


def load_libraries():
    """Loads shared objects that register operators, one path per line (`assay replay --library`)."""
    for path in os.environ.get("ASSAY_REPLAY_LIBRARIES", "").splitlines():
        try:
            ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_GLOBAL)
        except OSError as error:
            raise JobError(f"--library {path}: {error}") from error


def run(job_path, results_path, check_only):
    job = read_job(job_path)
    load_libraries()
    replayer = Replayer(job, check_only)
    try:
        with open(results_path, "a", encoding="ascii") as results, torch.no_grad():
            for entry in job.entries:
                # After a crash the last such line names the entry.
                print(json.dumps({"begin": entry.number}), file=results, flush=True)
                print(json.dumps(replayer.replay(entry)), file=results, flush=True)
                if replayer.device_lost:
                    return DEVICE_LOST
    except OSError as error:
        print(f"{results_path}: {error}", file=sys.stderr)
        return CANNOT_WRITE
    return 0


def main(words):
    try:
        if words == ["--about"]:
            print(json.dumps(about()))
            return 0
        if len(words) == 2:
            return run(words[0], words[1], False)
        if len(words) == 3 and words[0] == "--check":
            return run(words[1], words[2], True)
    except (JobError, OSError) as error:
        print(f"replay.py: {error}", file=sys.stderr)
        return WRONG_USE
    print("usage: replay.py [--check] JOB RESULTS | --about (started by `assay replay`)", file=sys.stderr)
    return WRONG_USE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
