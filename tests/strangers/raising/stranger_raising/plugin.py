"""A pack that cannot even be imported."""

raise RuntimeError("this pack was never finished")
