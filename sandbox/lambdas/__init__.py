"""AWS Lambda, its event sources, EventBridge and API Gateway on one machine, as the synthesized template wires them."""

from sandbox.lambdas.api_gateway import Tls
from sandbox.lambdas.interpreter import Runtime
from sandbox.lambdas.lambdas import Lambdas
from sandbox.lambdas.outcome import Outcome

__all__ = ["Lambdas", "Outcome", "Runtime", "Tls"]
