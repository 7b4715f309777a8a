"""Sends most requests to existing forms, and excludes rejections that the document cannot express."""

import atexit
import os
import random
import re
import threading
import uuid
from collections import Counter, deque

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import RejectedPositiveData, UnsupportedMethodResponse, UseAfterFree

ORGANIZATION = os.environ["FUZZ_ORGANIZATION"]
OWNER_KEY = os.environ["FUZZ_OWNER_KEY"]
OTHER_KEYS = [os.environ[f"FUZZ_{of}_KEY"] for of in ("EDITOR", "VIEWER", "READ_ONLY", "STRANGER")]

SHARE_OF_KNOWN_ORGANIZATIONS = 0.97
SHARE_OF_KNOWN_FORMS = 0.85
SHARE_OF_OTHER_KEYS = 0.06

# Rules that JSON Schema cannot express: a request that violates one is rejected although it is valid by the document.
EXPECTED_REASONS = {
    "INVALID_FILTER",
    "INVALID_ORDER_BY",
    "INVALID_PAGE_TOKEN",
    "DRAFT_NOT_PUBLISHABLE",
    "BREAKING_CHANGES",
    "FORM_NOT_LIVE",
    "REVISION_NOT_RESTORABLE",
    "EVENTS_PRUNED",
    "FORM_MOVED",
}
EXPECTED_VIOLATIONS = re.compile(
    r'repeats the key of steps|is fixed at creation|must be "guided" in a form'
    r"|must be left out with all=true|^names |must be the same in body and query|^column \d+: |^The pageToken "
    r"|must be empty or an absolute http or https URL|must be a BCP 47 language tag"
)

# A separate generator, since Hypothesis reseeds the shared one for every example.
dice = random.Random()
lock = threading.Lock()
drafts: deque[str] = deque(maxlen=40)
published: list[str] = os.environ["FUZZ_FORMS"].split(",")
revisions: deque[tuple[str, str]] = deque(maxlen=200)
deleted: set[str] = set()
restorable: deque[str] = deque(os.environ["FUZZ_DELETED_FORMS"].split(","), maxlen=40)
ids: set = set()
responses: Counter[tuple[str, str]] = Counter()


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Adds rules that the document states only in prose, and links from responses to further operations."""
    schemas = raw_schema["components"]["schemas"]
    for name in ("FormInput", "FormPatch"):
        # Output-only fields of a request are ignored (AIP-203).
        members = schemas[name]["properties"]
        members.update({member: {} for member, schema in members.items() if schema.get("readOnly")})
    # No value matches two variants, and the generator cannot create lists that violate `oneOf`.
    schemas["StepInput"]["anyOf"] = schemas["StepInput"].pop("oneOf")
    paths = raw_schema["paths"]
    created = paths["/organizations/{organizationRef}/forms"]["post"]["responses"]["200"]
    created["links"] = {
        operation_id: {
            "operationId": operation_id,
            "parameters": {
                "organizationRef": "$request.path.organizationRef",
                "formRef": "$response.body#/publicId",
                **further,
            },
        }
        for operation_id, further in {
            "getForm": {},
            "updateForm": {},
            "publishForm": {},
            "listRevisions": {},
            "getRevision": {"revisionRef": "live"},
            "deleteForm": {},
        }.items()
    }
    paths["/organizations/{organizationRef}/forms/{formRef}"]["delete"]["responses"]["200"]["links"] = {
        operation_id: {
            "operationId": operation_id,
            "parameters": {
                "organizationRef": "$request.path.organizationRef",
                "formRef": "$request.path.formRef",
            },
        }
        for operation_id in ("undeleteForm", "purgeForm")
    }


@schemathesis.hook
def before_call(context, case, kwargs):
    path = case.path_parameters
    if "organizationRef" in path and dice.random() < SHARE_OF_KNOWN_ORGANIZATIONS:
        path["organizationRef"] = ORGANIZATION
    # The response to a create with validateOnly has no id.
    if "formRef" in path and (path["formRef"] == "" or not is_stateful(case)):
        if dice.random() < SHARE_OF_KNOWN_FORMS:
            path.update(known_refs(operation_id_of(case)))
    # The only value that the coverage phase sends for this header; it would fail every request.
    if (case.headers or {}).get("if-match") == "0":
        del case.headers["if-match"]
    for parameters in (case.body, case.query):
        for name in ("requestId", "formId"):
            if isinstance(parameters, dict) and isinstance(parameters.get(name), str) and not is_new(parameters[name]):
                parameters[name] = str(uuid.UUID(int=dice.getrandbits(128), version=4))
    if case.headers.get("x-api-key") == OWNER_KEY and dice.random() < SHARE_OF_OTHER_KEYS:
        case.headers["x-api-key"] = dice.choice(OTHER_KEYS)


def is_new(id):
    """Also accepts a few of the repeated ids: most of them are a conflict."""
    with lock:
        seen = id in ids
        ids.add(id)
    return not seen or dice.random() < 0.05


def known_refs(operation_id):
    """Edits and deletes use forms that the run created, so that the published forms remain."""
    with lock:
        if operation_id == "getRevision" and revisions and dice.random() < 0.7:
            form, revision = dice.choice(revisions)
            return {"formRef": form, "revisionRef": revision}
        if operation_id in ("undeleteForm", "purgeForm"):
            return {"formRef": dice.choice(restorable)} if restorable else {}
        refs = drafts if operation_id in ("updateForm", "deleteForm") else [*drafts, *published]
        return {"formRef": dice.choice(refs)} if refs else {}


@schemathesis.hook
def after_call(context, case, response):
    with lock:
        responses[case.operation.label, str(response.status_code)] += 1
        if response.status_code != 200 or not response.headers.get("content-type", [""])[0].startswith("application/json"):
            return
        body = response.json()
        operation_id = operation_id_of(case)
        if operation_id == "createForm" and body["publicId"]:
            drafts.append(body["publicId"])
        if operation_id == "deleteForm" and not is_dry(case) and "x-request-replayed" not in response.headers:
            deleted.add(case.path_parameters["formRef"])
            restorable.append(case.path_parameters["formRef"])
        if operation_id == "undeleteForm":
            drafts.append(body["publicId"])
            deleted.difference_update([case.path_parameters["formRef"], body["publicId"], body["path"].split("/")[-1]])
        if operation_id == "listRevisions":
            revisions.extend(tuple(revision["path"].split("/")[3::2]) for revision in body["revisions"])


@schemathesis.hook
def after_network_error(context, case, request):
    with lock:
        responses[case.operation.label, "no response"] += 1


def operation_id_of(case):
    return case.operation.definition.raw.get("operationId") if case.method == case.operation.method.upper() else None


def is_stateful(case):
    return case.meta is not None and case.meta.phase.name.value == "stateful"


def is_dry(case):
    body = case.body if isinstance(case.body, dict) else {}
    return body.get("validateOnly") is True or (case.query or {}).get("validateOnly") == "true"


def has_control_characters(headers):
    return any(re.search(r"[\x00-\x08\x0a-\x1f\x7f]", str(value)) for value in headers.values())


@schemathesis.hook
def filter_failure(context, failure, case, response):
    # The response to malformed HTTP has no body.
    if response.status_code == 400 and not response.content and has_control_characters(case.headers or {}):
        return False
    # Without a key, an unsupported method is a 401 like an unknown path.
    if isinstance(failure, UnsupportedMethodResponse):
        return response.status_code != 401
    if isinstance(failure, UseAfterFree):
        return case.path_parameters.get("formRef") in deleted
    # With all=true, any filter and orderBy are ignored.
    if isinstance(failure, AcceptedNegativeData) and (case.query or {}).get("all") == "true":
        return False
    if not isinstance(failure, RejectedPositiveData):
        return True
    error = response.json()["error"]["details"]
    reason = error[0]["reason"]
    if reason != "INVALID_REQUEST":
        return reason not in EXPECTED_REASONS
    violations = [violation["description"] for violation in error[1]["fieldViolations"]]
    return not all(EXPECTED_VIOLATIONS.search(violation) for violation in violations)


@atexit.register
def print_responses():
    by_status = Counter()
    print("\nRequests by operation and status")
    for label in sorted({label for label, _ in responses}):
        counts = {status: count for (of, status), count in sorted(responses.items()) if of == label}
        by_status.update(counts)
        print(f"  {label}: " + ", ".join(f"{status} × {count}" for status, count in counts.items()))
    print(f"  all {by_status.total()}: " + ", ".join(f"{s} × {c}" for s, c in sorted(by_status.items())))
