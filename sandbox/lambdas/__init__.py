"""AWS Lambda, its event sources, EventBridge and API Gateway on one machine, as the synthesized template wires them."""
