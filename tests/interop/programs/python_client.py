"""A client written with python3-pmix: put, commit, fence, get, query."""

import os
import warnings

warnings.simplefilter("ignore")
import pmix


def check(outcome, what):
    if outcome != pmix.PMIX_SUCCESS:
        print(f"{what}: {outcome}", flush=True)
        os._exit(1)


client = pmix.PMIxClient()
outcome, me = client.init([])
check(outcome, "init")
everybody = {"nspace": me["nspace"], "rank": pmix.PMIX_RANK_WILDCARD}
outcome, size = client.get(everybody, "pmix.job.size", [])
check(outcome, "job size")
check(client.put(pmix.PMIX_GLOBAL, "colour",
                 {"value": f"of {me['rank']}", "val_type": pmix.PMIX_STRING}),
      "put")
check(client.commit(), "commit")
check(client.fence([everybody], [{"key": pmix.PMIX_COLLECT_DATA, "flags": 0,
                                  "value": True,
                                  "val_type": pmix.PMIX_BOOL}]), "fence")
for rank in range(size["value"]):
    outcome, got = client.get({"nspace": me["nspace"], "rank": rank}, "colour",
                              [])
    check(outcome, "get")
    assert got["value"] in (f"of {rank}", f"of {rank}".encode()), got
check(client.publish([{"key": f"py.{me['rank']}", "flags": 0, "value": "there",
                       "val_type": pmix.PMIX_STRING}]), "publish")
check(client.fence([everybody], []), "fence")
outcome, found = client.lookup([{"key": f"py.{(me['rank'] + 1) % size['value']}"
                                 }], [])
check(outcome, "lookup")
check(client.fence([everybody], []), "fence")
check(client.finalize([]), "finalize")
if me["rank"] == 0:
    print(f"python3-pmix: {size['value']} processes agree", flush=True)
