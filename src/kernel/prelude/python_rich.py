# What only some cells need: tables, figures, and stand-ins for what people import from IPython.

FIGURES = {"shown": {}}


def frame_text(value):
    """The text of a pandas table; by default a frame would be folded at 80 columns."""
    pandas = sys.modules.get("pandas")
    frame = getattr(pandas, "DataFrame", None)
    series = getattr(pandas, "Series", None)
    if frame is None or series is None or not isinstance(value, (frame, series)):
        return None
    try:
        with pandas.option_context(
            "display.width", 220, "display.max_columns", 30, "display.max_colwidth", 100
        ):
            return repr(value)
    except KeyError:
        return None


def is_figure(value):
    module = sys.modules.get("matplotlib.figure")
    return module is not None and isinstance(value, module.Figure)


def figure_png(value):
    """A figure as PNG, once in a cell; an empty one has none."""
    if not is_figure(value) or not value.axes:
        return None
    data = io.BytesIO()
    value.savefig(data, format="png", bbox_inches="tight")
    FIGURES["shown"][id(value)] = value
    return data.getvalue()


def show_figures(*_, **__):
    """Shows the open figures that the cell has not shown yet, and closes them."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or not hasattr(pyplot, "get_fignums"):
        return
    try:
        for number in pyplot.get_fignums():
            figure = pyplot.figure(number)
            if id(figure) not in FIGURES["shown"] and figure.axes:
                show("display", bundle(figure))
    finally:
        FIGURES["shown"].clear()
        pyplot.close("all")


def on_pyplot(module):
    module.show = show_figures


def on_threading(module):
    """The interpreter's own report of a thread's error does not know the lines of cells."""

    def excepthook(args):
        if args.exc_type is SystemExit:
            return
        name = args.thread.name if args.thread is not None else "unknown"
        text = "Exception in thread %s:\n%s\n" % (name, describe(args.exc_value, True))
        stream = sys.stderr
        try:
            stream.write(text)
            stream.flush()
        except Exception:
            pass

    module.excepthook = excepthook


def on_inspect(module):
    """A class does not say in which file it was written, and the module of the cells is none."""
    publish_sources()
    getfile = module.getfile

    def getfile_in_cells(value):
        try:
            return getfile(value)
        except (OSError, TypeError):
            name = cell_of(value)
            if name is None:
                raise
            return name

    module.getfile = getfile_in_cells


def cell_of(value):
    """The cell that a class was written in: the one that its methods name, else the last with such a class."""
    import linecache
    import re

    if not isinstance(value, type) or value.__module__ != "__main__":
        return None
    begin = re.compile(r"^\s*class\s+%s\b" % re.escape(value.__name__), re.M)
    names = [
        name
        for name, entry in linecache.cache.items()
        if name.startswith("<cell ") and begin.search("".join(entry[2]))
    ]
    codes = (getattr(member, "__code__", None) for member in vars(value).values())
    own = [code.co_filename for code in codes if code is not None and code.co_filename in names]
    return own[-1] if own else names[-1] if names else None


def on_ipython_display(module):
    module.display = display


def on_get_ipython(module):
    module.get_ipython = lambda: SHELL
    if hasattr(module, "display") and callable(module.display):
        module.display = display


# The stand-ins.


class DisplayObject:
    mime = "text/plain"

    def __init__(self, data=None, url=None, filename=None, **options):
        if filename is not None and data is None:
            with open(filename, "rb") as file:
                data = file.read()
        self.data = data
        self.url = url
        self.filename = filename
        self.metadata = options.get("metadata")

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = self.data
        if data is None:
            return {"text/plain": "<%s %s>" % (type(self).__name__, self.url)}
        return {self.mime: data, "text/plain": repr(self)}

    def __repr__(self):
        return "<IPython.core.display.%s object>" % type(self).__name__


class HTML(DisplayObject):
    mime = "text/html"


class Markdown(DisplayObject):
    mime = "text/markdown"


class Latex(DisplayObject):
    mime = "text/latex"


class Math(Latex):
    def __init__(self, data=None, **options):
        super().__init__("$\\displaystyle %s$" % (data or "").strip("$"), **options)


class SVG(DisplayObject):
    mime = "image/svg+xml"


class JSON(DisplayObject):
    mime = "application/json"


class Javascript(DisplayObject):
    mime = "application/javascript"


class Pretty(DisplayObject):
    pass


class Code(DisplayObject):
    pass


class Image(DisplayObject):
    def __init__(self, data=None, url=None, filename=None, format=None, **options):
        if isinstance(data, str) and url is None and filename is None:
            if data.startswith(("http:", "https:")):
                data, url = None, data
            else:
                data, filename = None, data
        elif hasattr(data, "__fspath__"):
            data, filename = None, os.fspath(data)
        super().__init__(data, url, filename, **options)
        head = bytes(self.data[:12]) if self.data else b""
        if head.startswith(b"\xff\xd8"):
            format = "jpeg"
        elif head.startswith(b"GIF8"):
            format = "gif"
        elif head[8:12] == b"WEBP":
            format = "webp"
        self.mime = "image/%s" % {"jpg": "jpeg"}.get(format, format or "png")


class DisplayHandle:
    def __init__(self, display_id=None):
        self.display_id = display_id

    def display(self, value, **options):
        display(value)

    update = display


def clear_output(wait=False):
    """Does nothing: a transcript only grows."""


def update_display(value, **options):
    display(value)


def set_matplotlib_formats(*formats, **options):
    """Does nothing: figures are PNG."""


class Shell:
    """What get_ipython() gives: magics and commands, and nothing of a terminal."""

    def __init__(self):
        self.user_ns = USER
        self.user_module = USER_MODULE
        self.kernel = None

    def system(self, command):
        extra("magics").system(command)

    def getoutput(self, command, split=True):
        return extra("magics").getoutput(command)

    def run_line_magic(self, name, line):
        return extra("magics").line_magic(name, line)

    def run_cell_magic(self, name, line, cell):
        return extra("magics").cell_magic(name, line, cell)

    def magic(self, line):
        name, _, rest = line.lstrip("%").partition(" ")
        return self.run_line_magic(name, rest)

    def run_cell(self, code, **options):
        return extra("magics").run_inner(code)

    def ev(self, expression):
        return eval(expression, USER)

    def push(self, variables):
        USER.update(variables)

    def register_magic_function(self, function, magic_kind="line", magic_name=None):
        extra("magics").register(function, magic_kind, magic_name or function.__name__)

    def enable_gui(self, *_):
        """Does nothing: there is no window."""

    def enable_matplotlib(self, *_):
        """Does nothing: figures are shown without it."""

    def set_next_input(self, *_, **__):
        """Does nothing: there is no input line."""

    @property
    def events(self):
        return self

    def register(self, *_):
        """Does nothing: nobody sends events."""

    def unregister(self, *_):
        """Does nothing: nobody sends events."""


SHELL = Shell()

DISPLAYS = {
    "display": display,
    "HTML": HTML,
    "Markdown": Markdown,
    "Latex": Latex,
    "Math": Math,
    "SVG": SVG,
    "JSON": JSON,
    "Javascript": Javascript,
    "Pretty": Pretty,
    "Code": Code,
    "Image": Image,
    "DisplayObject": DisplayObject,
    "DisplayHandle": DisplayHandle,
    "clear_output": clear_output,
    "update_display": update_display,
    "set_matplotlib_formats": set_matplotlib_formats,
}
SHELLS = {
    "get_ipython": lambda: SHELL,
    "InteractiveShell": Shell,
    "display": display,
    "version_info": (8, 0, 0),
    "__version__": "8.0.0",
}
STAND_INS = {
    "IPython": SHELLS,
    "IPython.display": DISPLAYS,
    "IPython.core": {},
    "IPython.core.display": DISPLAYS,
    "IPython.core.display_functions": DISPLAYS,
    "IPython.core.getipython": SHELLS,
    "IPython.core.interactiveshell": SHELLS,
    "IPython.core.magic": {},
}


def fill(module):
    for name, value in STAND_INS[module.__name__].items():
        setattr(module, name, value)
    if module.__name__ == "IPython":
        # `IPython.display` is a module; the import of it sets the name.
        module.__dict__.pop("display", None)
