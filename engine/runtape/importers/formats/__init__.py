"""One module per recording format; each has a `FORMAT`. `registry` names them."""
