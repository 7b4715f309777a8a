import { compatibilityRules, publishRules } from '@fms/contracts'

const listOf = (rules: Readonly<Record<string, string>>) =>
  Object.entries(rules)
    .map(([type, rule]) => `\`${type}\`: ${rule}`)
    .join(' ')

/** `info.description`: how a program works with the API, in Markdown, at most 60 lines. Links are relative to `/v2`. */
export const description = `
A form is a draft, which you edit, and revisions, which respondents see. The API follows
[Google's API Improvement Proposals](https://google.aip.dev). The [list of the guides](../llms.txt) is for programs, as is
[a document of the ten essential operations](openapi.json?view=essential).

## From nothing to a live form

Every request has the header \`x-api-key\`.

1. \`GET /whoami\` returns your organizations. Their \`slug\` is the \`organizationRef\` of the other paths.
2. **Create**: \`POST /organizations/{organizationRef}/forms\` with \`{"form": {"name": …, "steps": […]}}\` returns a draft
   with its \`publicId\`, the \`formRef\` of the other paths. A step has a \`type\`, a \`key\` that no other step of the form
   has, and a \`title\`. A form begins with a step \`start\` and ends with a step \`end\`; those between them are questions.
   A step with \`branches\` leads on to the step with the key \`targetStepKey\`.
3. **Check**: \`POST …/forms/check\` with the same body stores nothing, and is a 400 where a create would be.
   \`violations\` would prevent a publish; \`warnings\`, such as a misspelt type, prevent nothing.
4. **Update**: \`PATCH …/forms/{formRef}\` with the members to change (JSON Merge Patch, RFC 7396). A list, such as \`steps\`,
   is replaced as a whole, and \`null\` restores the default.
5. **Publish**: \`POST …/forms/{formRef}/publish\` makes the draft the live revision, which respondents see at \`publicUrl\`.
   \`POST …/forms/{formRef}/unpublish\` takes it down.
6. **Changes**: while the form is live, \`GET …/forms/{formRef}/changes\` says what the next publish would change for
   respondents, whether the draft is \`publishable\`, and in \`violations\` what prevents it.

The rules of a publish are the \`type\` of its violations. ${listOf(publishRules)} With \`refuseBreaking\` also:
${listOf(compatibilityRules)}

## Errors

An error has an ErrorBody (AIP-193). \`error.message\` says what to do next. Programs use the \`reason\` of the ErrorInfo in
\`error.details\`, which is stable. A 400 lists every wrong field in \`fieldViolations\`; a refused publish lists all rules
that the draft breaks in \`violations\`, with the path of the field. Correct all of them, then repeat the request. After a 429
and a 503, wait for the seconds in \`Retry-After\`. The \`requestId\` of the RequestInfo is for a report to the operator.

## ETags

Responses with a form have the header \`etag\`. Send it unchanged, quotes included, as \`If-Match\` with a write that depends on
what you have read. If the draft has changed since, the write is a 412 \`FORM_MOVED\` and changes nothing: read the form
again, and apply your change to it. A read with \`If-None-Match\` is a 304 while your copy is current.

## Repeats

Writes of forms and the create of a key accept a \`requestId\`, a UUID of your own (AIP-155). If no response arrives, repeat
the request with the same id, target and body: it is not carried out again. Use a new id for each new request. Letter
case does not count. The service remembers the ids of an organization and operation as long as the event of the change,
a day at least, but none of refused requests, or of updates and rollbacks that changed nothing.

## Rules for every request

- Bodies are JSON objects in UTF-8, at most 1 MiB, nested at most 64 levels. Unknown members, unknown query parameters
  and parameters that are given twice are a 400.
- \`HEAD\` responds as \`GET\`, without a body. Another method on a known path is a 405 with the header \`Allow\`.
- Responses may gain members: ignore unknown ones.
- Writes, except for sign-ins, accept \`validateOnly: true\`: every check runs, the response is that of the real request,
  and nothing is stored.
`.trim()
