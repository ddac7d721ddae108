"""Tensors, arrays and shapes in gdb: `source gradus_gdb.py`, then `print x`.

    $1 = tensor f32 [2, 3], from matmul, requires grad = {1, 2, 3, 4, 5, 6}

It only reads memory and calls no function of the program, so it also works on core files.
"""
import gdb
import gdb.printing

HEADER = 64  # kBlockHeader in core/memory/storage.h: bytes of a block before its data
DTYPES = [("f32", "float"), ("f64", "double"), ("i64", "long long"), ("bool", "bool"),
          ("bf16", "gradus::BFloat16"), ("f16", "gradus::Float16")]


def sizes_of(dims):
    """The numbers of a gradus::Dims."""
    count = int(dims["size_"])
    return [int(dims["values_"][i]) for i in range(count)] if 0 <= count <= 8 else None


def text_of(sizes):
    return "[" + ", ".join(map(str, sizes)) + "]"


class Array:
    """What there is to know of a gradus::Array; `broken` where it was not constructed yet."""

    def __init__(self, value):
        self.block = int(value["storage_"]["block_"])
        self.shape, self.strides = sizes_of(value["shape_"]), sizes_of(value["strides_"])
        self.offset = int(value["offset_"])
        number = int(value["dtype_"])
        self.broken = self.shape is None or self.strides is None or not 0 <= number < len(DTYPES)
        if not self.broken:
            self.dtype, element = DTYPES[number]
            self.element = gdb.lookup_type(element)
            self.broken = not self.readable()

    def readable(self):
        if not self.block or 0 in self.shape:
            return True
        try:
            gdb.selected_inferior().read_memory(self.block + HEADER + self.offset * self.element.sizeof, 1)
            return True
        except gdb.MemoryError:
            return False

    def text(self):
        if self.broken:
            return "(not initialised)"
        return f"{self.dtype} {text_of(self.shape)}" if self.block else "(undefined)"

    def elements(self):
        """Row by row, in any layout. gdb stops asking at `set print elements`."""
        if self.broken or not self.block or 0 in self.shape:
            return
        first = gdb.Value(self.block + HEADER).cast(self.element.pointer()) + self.offset
        index = [0] * len(self.shape)
        number = 0
        while True:
            yield f"[{number}]", (first + sum(i * stride for i, stride in zip(index, self.strides))).dereference()
            number += 1
            axis = len(index) - 1
            while axis >= 0 and index[axis] == self.shape[axis] - 1:
                index[axis] = 0
                axis -= 1
            if axis < 0:
                return
            index[axis] += 1


class ArrayPrinter:
    def __init__(self, value):
        self.array = Array(value)

    def to_string(self):
        return "array " + self.array.text()

    def children(self):
        return self.array.elements()

    def display_hint(self):
        return "array"


def read(address, kind):
    return gdb.Value(address).cast(gdb.lookup_type(kind).pointer()).dereference()


def node_fields(node):
    """op, label, is_leaf and requires_grad. Compilers describe a class with virtual functions where its first one is
    defined, in the library: where that has no debug information, the fields are found by their order in Node
    (core/tape/autograd.h)."""
    names = ["op", "label", "is_leaf", "requires_grad"]
    kind = node.type.target().strip_typedefs()
    if kind.fields():
        return [node.dereference()[name] for name in names]
    at, pointer = int(node), gdb.lookup_type("char").pointer().sizeof
    dims = gdb.lookup_type("gradus::Dims").sizeof
    # The virtual table, op, label, order; shape, dtype with padding, inputs (a vector); is_leaf, requires_grad.
    flags = at + 3 * pointer + 8 + dims + 8 + 3 * pointer
    texts = [read(at + i * pointer, "char").address.cast(gdb.lookup_type("char").pointer().pointer()).dereference() for i in (1, 2)]
    return texts + [read(flags, "bool"), read(flags + 1, "bool")]


class TensorPrinter(ArrayPrinter):
    def __init__(self, value):
        super().__init__(value["array_"])
        self.node = value["node_"]["node_"]

    def to_string(self):
        text = "tensor " + self.array.text()
        if self.array.broken or not int(self.node):
            return text
        try:
            op, label, is_leaf, requires_grad = node_fields(self.node)
            where, leaf = label.string(), bool(is_leaf)
            text += ", leaf" if leaf else ", from " + op.string()
            if where:
                text += (" " if leaf else " in ") + where
            return text + (", requires grad" if requires_grad else ", frozen")
        except (gdb.error, UnicodeDecodeError):  # a node that was not constructed yet has any text
            return text + ", on the tape"


class DimsPrinter:
    def __init__(self, value):
        self.sizes = sizes_of(value)

    def to_string(self):
        return "(not initialised)" if self.sizes is None else text_of(self.sizes)


class Printers(gdb.printing.PrettyPrinter):
    """Finds the printer of a value, also for classes derived from these, such as nn::Parameter."""

    known = {"gradus::Tensor": TensorPrinter, "gradus::Array": ArrayPrinter, "gradus::Dims": DimsPrinter}

    def __init__(self):
        super().__init__("gradus")

    def __call__(self, value):
        kind = value.type.strip_typedefs()
        while kind.code == gdb.TYPE_CODE_STRUCT:
            if kind.unqualified().name in self.known:
                return self.known[kind.unqualified().name](value.cast(kind))
            fields = kind.fields()
            if not (kind.name or "").startswith("gradus::") or not fields or not fields[0].is_base_class:
                return None
            kind = fields[0].type.strip_typedefs()
        return None


gdb.printing.register_pretty_printer(gdb.current_objfile(), Printers(), replace=True)
