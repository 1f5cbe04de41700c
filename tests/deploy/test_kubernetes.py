"""The manifests, against the schemas of Kubernetes, and for what keeps pods shut."""

from __future__ import annotations

import copy
import functools
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from scalebox.core import settings

FOLDER = Path(__file__).parents[2] / "deploy" / "kubernetes"
BASE = FOLDER / "base"
OVERLAY = FOLDER / "namespace-tier"
#: The oldest version that knows every field used here (appArmorProfile), and the newest with a schema.
VERSIONS = ("1.30", kubernetes_validate.latest_version())

Document = dict[str, Any]


@functools.cache
def _parsed(path: Path) -> list[Document]:
    return [document for document in yaml.safe_load_all(path.read_text(encoding="utf-8")) if document]


def read(path: Path) -> list[Document]:
    return copy.deepcopy(_parsed(path))


def documents() -> list[Document]:
    """Return the manifests that the kustomization lists."""
    (kustomization,) = read(BASE / "kustomization.yaml")
    return [document for name in kustomization["resources"] for document in read(BASE / name)]


def one(kind: str) -> Document:
    (found,) = [document for document in documents() if document["kind"] == kind]
    return found


def merged(base: Any, patch: Any) -> Any:
    """Return a strategic merge of the two: objects by key, lists of named objects by name."""
    if isinstance(base, dict) and isinstance(patch, dict):
        return base | {key: merged(base.get(key), value) for key, value in patch.items()}
    if isinstance(base, list) and isinstance(patch, list) and all("name" in item for item in [*base, *patch]):
        named = {item["name"]: item for item in base}
        return list((named | {item["name"]: merged(named.get(item["name"]), item) for item in patch}).values())
    return patch


def deployments() -> dict[str, Document]:
    """Return the Deployment of the base and of the overlay."""
    (patch,) = read(OVERLAY / "deployment.yaml")
    return {"base": one("Deployment"), "namespace-tier": merged(one("Deployment"), patch)}


def pod(deployment: Document) -> Document:
    spec: Document = deployment["spec"]["template"]["spec"]
    return spec


def container(deployment: Document) -> Document:
    (only,) = pod(deployment)["containers"]
    assert isinstance(only, dict)
    return only


both = pytest.mark.parametrize("deployment", deployments().values(), ids=deployments())


def test_every_file_is_listed() -> None:
    (kustomization,) = read(BASE / "kustomization.yaml")
    assert {path.name for path in BASE.iterdir()} == {*kustomization["resources"], "kustomization.yaml"}
    kinds = {document["kind"] for document in documents()}
    assert kinds == {
        "Namespace", "ServiceAccount", "Deployment", "Service", "NetworkPolicy", "HorizontalPodAutoscaler",
        "PodDisruptionBudget",
    }  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
def test_every_manifest_is_valid(version: str) -> None:
    for document in (*documents(), *deployments().values()):
        kubernetes_validate.validate(document, version, strict=True)


def test_the_schema_finds_a_slip_of_the_pen() -> None:
    broken = copy.deepcopy(one("Deployment"))
    pod(broken)["securityContext"]["runAsNonRot"] = True
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSIONS[0], strict=True)


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl here")
def test_the_overlay_is_what_kubectl_makes_of_it() -> None:
    done = subprocess.run(
        ["kubectl", "kustomize", str(OVERLAY)], capture_output=True, text=True, timeout=120, check=True
    )
    made = {document["kind"]: document for document in yaml.safe_load_all(done.stdout)}
    del made["Deployment"]["metadata"]["namespace"]
    ours = deployments()["namespace-tier"]
    del ours["metadata"]["namespace"]
    assert made["Deployment"] == ours
    assert all(
        document["metadata"].get("namespace") == "scalebox" for kind, document in made.items() if kind == "Service"
    )


@both
def test_a_pod_has_no_rights(deployment: Document) -> None:
    spec, only = pod(deployment), container(deployment)
    context = spec["securityContext"]
    assert (context["runAsNonRoot"], context["runAsUser"] > 0) == (True, True)
    assert context["seccompProfile"]["type"] in ("RuntimeDefault", "Localhost")
    own = only["securityContext"]
    assert own["capabilities"] == {"drop": ["ALL"]}
    assert own["readOnlyRootFilesystem"] is True
    assert (own["allowPrivilegeEscalation"], own["privileged"]) == (False, False)
    shared = ("hostNetwork", "hostPID", "hostIPC", "automountServiceAccountToken")
    assert {name: spec[name] for name in shared} == dict.fromkeys(shared, False)
    assert [volume for volume in spec["volumes"] if "hostPath" in volume] == []
    assert [port for port in only["ports"] if "hostPort" in port] == []


@both
def test_what_a_pod_uses_is_bounded(deployment: Document) -> None:
    only = container(deployment)
    assert only["resources"]["requests"] == only["resources"]["limits"]  # guaranteed: never throttled by neighbours
    assert {"cpu", "memory", "ephemeral-storage"} == only["resources"]["limits"].keys()
    for volume in pod(deployment)["volumes"]:
        assert "secret" in volume or "sizeLimit" in volume["emptyDir"], volume["name"]
    assert {mount["name"] for mount in only["volumeMounts"]} == {
        volume["name"] for volume in pod(deployment)["volumes"]
    }


def test_the_overlays_profile_is_the_one_beside_it() -> None:
    spec = pod(deployments()["namespace-tier"])
    profile = spec["securityContext"]["seccompProfile"]["localhostProfile"]
    assert (FOLDER.parent / "seccomp" / Path(profile).name).is_file()
    name = spec["securityContext"]["appArmorProfile"]["localhostProfile"]
    text = (OVERLAY / "apparmor-scalebox").read_text(encoding="utf-8")
    assert re.search(rf"^profile {name} .*\{{\n  userns,$", text, flags=re.MULTILINE)


def test_the_base_and_the_overlay_name_their_tier() -> None:
    tiers = {
        name: {variable["name"]: variable["value"] for variable in container(deployment)["env"]}["SCALEBOX_TIER"]
        for name, deployment in deployments().items()
    }
    assert tiers == {"base": "process", "namespace-tier": "namespace"}


def test_everything_is_shut_first() -> None:
    shut = next(document["spec"] for document in documents() if document["kind"] == "NetworkPolicy")
    assert shut == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_nothing_gets_out_and_trainers_alone_get_in() -> None:
    policies = [document["spec"] for document in documents() if document["kind"] == "NetworkPolicy"]
    assert [rule for policy in policies for rule in policy.get("egress", [])] == []
    assert all("Egress" in policy["policyTypes"] for policy in policies)
    (rule,) = [rule for policy in policies for rule in policy.get("ingress", [])]
    (peer,) = rule["from"]  # both selectors in one peer: of that namespace and with that label
    assert peer["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "training"}
    assert peer["podSelector"]["matchLabels"] == {"scalebox/role": "trainer"}
    assert rule["ports"] == [{"protocol": "TCP", "port": "http"}]


def test_the_parts_fit_together() -> None:
    deployment = one("Deployment")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    name = deployment["metadata"]["name"]
    selectors = [
        deployment["spec"]["selector"]["matchLabels"],
        one("Service")["spec"]["selector"],
        one("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
    ]
    assert all(selector.items() <= labels.items() for selector in selectors)
    target = one("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) == ("Deployment", name)
    ports = {port["name"] for port in container(deployment)["ports"]}
    assert one("Service")["spec"]["ports"][0]["targetPort"] in ports
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container(deployment)[probe]["httpGet"]["port"] in ports
    assert pod(deployment)["serviceAccountName"] == one("ServiceAccount")["metadata"]["name"]
    # An autoscaler sets it, and a file that does too would set it back at every apply.
    assert "replicas" not in deployment["spec"]
    assert one("HorizontalPodAutoscaler")["spec"]["minReplicas"] > one("PodDisruptionBudget")["spec"]["minAvailable"]


def test_who_submitted_comes_back_to_the_same_pod() -> None:
    assert one("Service")["spec"]["sessionAffinity"] == "ClientIP"


def test_every_variable_is_a_setting() -> None:
    known = {f"SCALEBOX_{setting.name.upper()}" for setting in settings.describe()}
    texts = [path.read_text(encoding="utf-8") for path in FOLDER.parent.rglob("*") if path.is_file()]
    # Those of the Compose file itself are no variables of the container.
    own = {"SCALEBOX_SET", "SCALEBOX_SECCOMP", "SCALEBOX_TRAINER_TOKEN", "SCALEBOX_TOKENS"}
    used = {found for text in texts for found in re.findall(r"\bSCALEBOX_[A-Z_]+\b", text)} - own
    assert {"SCALEBOX_TIER", "SCALEBOX_INTERPRETER", "SCALEBOX_SERVER_HOST"} <= used
    assert used - known == set()
