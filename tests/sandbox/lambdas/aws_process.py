"""`python -m … REGION BUCKET`: an emulated AWS until standard input ends; its endpoint is the first line it prints."""

import sys

from sandbox.aws.server import SandboxAws
from sandbox.lambdas import moto_patch


def main(region: str, bucket: str) -> None:
    moto_patch.install()
    with SandboxAws(region=region) as aws:
        place = {"LocationConstraint": region}
        aws.client("s3").create_bucket(Bucket=bucket, CreateBucketConfiguration=place)
        sys.stdout.write(aws.endpoint + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
