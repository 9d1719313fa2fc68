"""Puts many mutants into one copy of a source, each behind a question whether it is the one.

cargo-mutants says what the mutants are. It compiles each by itself, which for a crate near the
ground is a minute each; here all of a file are compiled at once, and a run says which one is on
(`FTLAB_MUTANT`, on.rs). What stands where nothing can be asked while the program runs (constants,
`const fn`, conditions with `let`) is not embedded and counts as left out.
"""

import tree_sitter
import tree_sitter_rust

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
# What is known to the compiler already.
CONSTANT = {
    "const_item", "static_item", "array_type", "enum_variant", "const_block", "type_arguments"}
COMPARISONS = {b"==", b"!=", b"<", b">", b"<=", b">="}


class Source:
    """A file, its tree, and the mutants in it by the node that they change."""

    def __init__(self, text, asks):
        self.text = text.encode()
        self.root = PARSER.parse(self.text).root_node
        # How this crate asks whether a mutant is on.
        self.asks = asks
        self.sites = {}
        lines = text.splitlines(keepends=True)
        self.starts = [0]
        for line in lines:
            self.starts.append(self.starts[-1] + len(line.encode()))
        self.lines = lines

    def offset(self, place):
        line = self.lines[place["line"] - 1] if place["line"] <= len(self.lines) else ""
        before = line[: place["column"] - 1].encode()
        return self.starts[place["line"] - 1] + len(before)

    def place(self, number, mutant):
        """Notes a mutant at its node; whether it can be embedded."""
        start, end = (self.offset(mutant["span"][edge]) for edge in ("start", "end"))
        node = self.root.descendant_for_byte_range(start, max(start, end - 1))
        find = {
            "FnValue": self.body,
            "BinaryOperator": self.binary,
            "UnaryOperator": self.unary,
            "MatchArm": self.arm,
            "MatchArmGuard": self.arm,
        }.get(mutant["genre"])
        site = find(node, start) if find else None
        if site is None or self.is_constant(site):
            return False
        key = (site.start_byte, site.end_byte, site.type)
        self.sites.setdefault(key, []).append((number, mutant))
        return True

    @staticmethod
    def ancestors(node):
        while node is not None:
            yield node
            node = node.parent

    def is_constant(self, site):
        below = None
        for node in self.ancestors(site):
            if node.type in CONSTANT:
                return True
            if node.type == "array_expression" and below is not None:
                if node.child_by_field_name("length") == below:
                    return True
            if node.type == "function_item":
                modifiers = [child for child in node.children if child.type == "function_modifiers"]
                return any(b"const" in child.text for child in modifiers)
            below = node
        return False

    def body(self, node, start):
        """The body of the innermost function around it."""
        for above in self.ancestors(node):
            if above.type == "function_item":
                body = above.child_by_field_name("body")
                if body.start_byte <= start:
                    return body
        return None

    def binary(self, node, start):
        for above in self.ancestors(node):
            if above.type in ("binary_expression", "compound_assignment_expr"):
                return above if above.child_by_field_name("operator").start_byte == start else None
        return None

    def unary(self, node, start):
        for above in self.ancestors(node):
            if above.type == "unary_expression":
                return above if above.start_byte == start else None
        return None

    def arm(self, node, start):
        for above in self.ancestors(node):
            if above.type == "match_arm":
                pattern = above.child_by_field_name("pattern")
                guard = pattern.child_by_field_name("condition")
                has_let = guard is not None and guard.type in ("let_chain", "let_condition")
                return None if has_let else pattern
        return None

    def embedded(self):
        return self.render(self.root).decode()

    def render(self, node):
        mutants = self.sites.get((node.start_byte, node.end_byte, node.type))
        if not mutants:
            return self.plain(node)
        numbers = ",".join(str(number) for number, _ in mutants)
        how = {
            "block": self.with_body,
            "binary_expression": self.with_operator,
            "compound_assignment_expr": self.with_assignment,
            "unary_expression": self.with_operand,
            "match_pattern": self.with_guard,
        }[node.type]
        return marked(numbers, how(node, mutants))

    def plain(self, node):
        """A node whose children may hold mutants."""
        out, at = [], node.start_byte
        for child in node.children:
            out.append(self.text[at : child.start_byte])
            out.append(self.render(child))
            at = child.end_byte
        out.append(self.text[at : node.end_byte])
        return b"".join(out)

    def on(self, number):
        return f"{self.asks}({number})".encode()

    def choice(self, mutants, text, otherwise):
        """`otherwise`, or what `text` makes of the mutant that is on."""
        out = []
        for number, mutant in mutants:
            out.append(b"if %s { %s } else " % (self.on(number), marked(number, text(mutant))))
        return b"".join(out) + b"{ %s }" % otherwise

    def with_body(self, node, mutants):
        leave = b""
        for number, mutant in mutants:
            value = mutant["replacement"].encode()
            value = b"return" if value == b"()" else b"return " + value
            leave += marked(number, b"if %s { %s; }" % (self.on(number), value)) + b" "
        return b"{ " + leave + self.plain(node)[1:]

    def sides(self, node):
        return [self.render(node.child_by_field_name(side)) for side in ("left", "right")]

    def with_operator(self, node, mutants):
        operator = node.child_by_field_name("operator").text
        left, right = self.sides(node)
        if operator in (b"&&", b"||"):
            # The other operator evaluates its right side where this one does not.
            number = mutants[0][0]
            differs = b"!=" if operator == b"&&" else b"=="
            return b"({ let left__ = %s; if left__ %s %s { %s } else { left__ } })" % (
                left, differs, self.on(number), right)
        if operator in COMPARISONS:
            def compare(sign):
                return b"*left__ %s *right__" % sign
            both = b"(&(%s), &(%s))" % (left, right)
        else:
            def compare(sign):
                return b"left__ %s right__" % sign
            both = b"(%s, %s)" % (left, right)
        chosen = self.choice(mutants, lambda mutant: compare(sign_of(mutant)), compare(operator))
        return b"(match %s { (left__, right__) => %s })" % (both, chosen)

    def with_assignment(self, node, mutants):
        left, right = self.sides(node)
        operator = node.child_by_field_name("operator").text
        def assign(sign):
            return b"%s %s %s" % (left, sign, right)
        chosen = self.choice(mutants, lambda mutant: assign(sign_of(mutant)), assign(operator))
        return b"(%s)" % chosen

    def with_operand(self, node, mutants):
        operand = self.render(node.children[-1])
        operator = node.children[0].text
        chosen = self.choice(mutants, lambda _: b"operand__", operator + b" operand__")
        return b"(match %s { operand__ => %s })" % (operand, chosen)

    def with_guard(self, node, mutants):
        guard = node.child_by_field_name("condition")
        pattern, condition = self.text[node.start_byte : node.end_byte], b"true"
        if guard is not None:
            pattern = self.text[node.start_byte : guard.start_byte].rstrip().removesuffix(b"if")
            condition = self.render(guard)
        for number, mutant in mutants:
            if mutant["genre"] == "MatchArm":
                condition = b"!%s && (%s)" % (self.on(number), condition)
            elif mutant["replacement"] == "true":
                condition = b"%s || (%s)" % (self.on(number), condition)
            else:
                condition = b"!%s && (%s)" % (self.on(number), condition)
        return pattern + b" if " + condition


def sign_of(mutant):
    return mutant["replacement"].strip().encode()


def marked(numbers, text):
    """A text that tells, for whoever reads an error of the compiler, whose it is."""
    numbers = str(numbers).encode()
    return b"/*<%s*/%s/*>%s*/" % (numbers, text, numbers)


def embed(text, asks, mutants):
    """The text with those mutants in it (number and what cargo-mutants said), and which."""
    source = Source(text, asks)
    placed = [number for number, mutant in mutants if source.place(number, mutant)]
    return source.embedded(), placed


def with_tests(text, kept):
    """The text without its tests, but for those of these names."""
    text = text.encode()
    out, at = [], 0
    for start, end in tests_but(PARSER.parse(text).root_node, kept):
        out.append(text[at:start])
        at = end
    return b"".join([*out, text[at:]]).decode()


def tests_but(node, kept):
    """From where to where other tests stand, with the attributes and comments in front of them."""
    before = []
    for child in node.children:
        if child.type == "attribute_item" or is_comment_of_next(child):
            before.append(child)
            continue
        if child.type in ("mod_item", "declaration_list"):
            yield from tests_but(child, kept)
        elif child.type == "function_item" and any(above.text == b"#[test]" for above in before):
            if child.child_by_field_name("name").text.decode() not in kept:
                yield before[0].start_byte, child.end_byte
        before = []


def is_comment_of_next(node):
    return node.type in ("line_comment", "block_comment") and not node.text.startswith(b"//!")
