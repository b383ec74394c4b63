"""Which account and region the sandbox is."""

# moto's own; a request's credentials never lead elsewhere.
ACCOUNT = "123456789012"
# The first seed's region.
REGION = "ap-northeast-2"
