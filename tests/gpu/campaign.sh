#!/usr/bin/env bash
# Runs Assay's measurements on a machine with one GPU and PyTorch, no network needed, in under nine
# minutes: tests/gpu/campaign.py, which says how. `campaign.sh --help` lists the options.
exec "${PYTHON:-python3}" "$(dirname "${BASH_SOURCE[0]}")/campaign.py" "$@"
