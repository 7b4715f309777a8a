"""The life of one form: create, patch with ETag, publish, list all, delete. Prints what came of it as JSON."""

import json
import os
import uuid

from form_management_client import AuthenticatedClient
from form_management_client.api.forms import create_form, delete_form, list_forms, publish_form, update_form
from form_management_client.models import (
    CreateFormRequest,
    FormInput,
    FormPatch,
    OpenStepInput,
    PublishFormRequest,
    StartStepInput,
    ThemeInput,
    ThemePatch,
    UpdateFormRequest,
)

organization = os.environ["ORGANIZATION"]
client = AuthenticatedClient(
    base_url=os.environ["BASE_URL"],
    token=os.environ["API_KEY"],
    prefix="",
    auth_header_name="x-api-key",
)

question = OpenStepInput(type_="rating", key="stars")
question["max"] = 5
form = FormInput(
    name="Generated",
    steps=[StartStepInput(type_="start", key="hello", title="How was it?"), question],
    theme=ThemeInput(button_radius_px=4.5),
)
created = create_form.sync_detailed(organization, client=client, body=CreateFormRequest(form=form))
etag = created.headers["etag"]
ref = created.parsed.public_id


def patch():
    form = FormPatch(description="Patched", theme=ThemePatch(primary_color=None))
    body = UpdateFormRequest(form=form)
    return update_form.sync_detailed(organization, ref, client=client, body=body, if_match=etag)


patched = patch()
stale = patch()

published = publish_form.sync(
    organization, ref, client=client, body=PublishFormRequest(request_id=uuid.uuid4())
)

names = []
page_token = ""
while True:
    page = list_forms.sync(
        organization, client=client, page_size=2, order_by="createTime", page_token=page_token
    )
    names += [form.name for form in page.forms]
    page_token = page.next_page_token
    if page_token == "":
        break

deleted = delete_form.sync_detailed(organization, ref, client=client)

print(
    json.dumps(
        {
            "buttonRadiusPx": created.parsed.theme.button_radius_px,
            "patched": patched.parsed.description,
            "stale": stale.status_code,
            "live": published.live,
            "names": names,
            "deleted": deleted.status_code,
        }
    )
)
