"""Progress bars, through tqdm, which is optional."""

from contextlib import contextmanager

from ._tables import needed


class Bars:
    """A bar per piece of work that is under way."""

    def __init__(self):
        self._tqdm = needed("tqdm.auto", "progress=True", "tqdm").tqdm
        self._bars = {}

    def __call__(self, pieces):
        for number, label, counts, done, length, is_over in pieces:
            bar = self._bars.get(number)
            if bar is None:
                if is_over:
                    continue
                bar = self._tqdm(desc=label, total=length, unit=f" {counts}", leave=False)
                self._bars[number] = bar
            bar.update(done - bar.n)
            if is_over:
                self._bars.pop(number).close()

    def close(self):
        while self._bars:
            self._bars.popitem()[1].close()


@contextmanager
def shown(progress):
    """What is told of progress: nothing for False, bars for True, else `progress` itself."""
    if progress is True:
        bars = Bars()
        try:
            yield bars
        finally:
            bars.close()
    else:
        yield progress or None
