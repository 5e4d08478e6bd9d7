# The adapters, each stated once, as the public names of the package are in its __init__.pyi.

from pytest_rankcheck.rankers.adapter_protocol import (
    Adapter as Adapter,
    QueryAnswer as QueryAnswer,
    RankingTask as RankingTask,
)
from pytest_rankcheck.rankers.adapters.batch_ranker import batch as batch
from pytest_rankcheck.rankers.adapters.command_ranker import command as command
from pytest_rankcheck.rankers.adapters.scoring_rankers import embedder as embedder
from pytest_rankcheck.rankers.adapters.http_ranker import http as http
from pytest_rankcheck.rankers.adapters.model_ranker import model as model
from pytest_rankcheck.rankers.adapters.scoring_rankers import scorer as scorer
from pytest_rankcheck.rankers.callable_adapters import retriever as retriever
