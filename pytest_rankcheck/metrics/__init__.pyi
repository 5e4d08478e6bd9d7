# What the parameters of a metric may be; the rest that a metric needs is at the top level.

from pytest_rankcheck.metrics.metric_parameters import (
    Call as Call,
    call as call,
    choice as choice,
    flag as flag,
    mapping as mapping,
    number as number,
    one_of as one_of,
)
