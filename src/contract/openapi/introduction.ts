import { ERROR_CODES } from '../../base/index.ts';

/** What applies to every operation, in Markdown. */
export const introduction = `**Authentication.** Send an API key as \`Authorization: Bearer sk_…\`, or sign in for a session cookie. Both act in one workspace.
Resources of other workspaces are 404. The widget’s operations take neither: they need a deployment id and the \`Origin\` of a page that the
deployment allows.

**Requests.** Bodies are JSON (\`Content-Type: application/json\`) of at most 1 MiB; some operations take less. Files are not limited by this. Unknown fields and
query parameters are rejected. Names and titles are one line with a visible character and without control characters. Messages,
comments and other longer texts may have tabs and line breaks (LF or CR LF), and no other control characters.
\`PATCH\` is a JSON merge patch (RFC 7396). \`HEAD\` works wherever \`GET\` does.

**Responses.** Times are ISO 8601 in UTC. Ids are opaque. New fields may be added at any time: ignore unknown ones.

**Lists** are paginated by \`limit\` (1 to 100, default 20) and \`cursor\`, which is the \`next_cursor\` of the previous page. The newest items come first,
unless the operation says otherwise; \`order\` changes that.

**Retries.** A \`POST\` with an \`Idempotency-Key\` can be repeated for 24 hours and runs once. Resources have an \`ETag\`:
\`If-None-Match\` saves transferring an unchanged resource, \`If-Match\` prevents overwriting another client’s change.

**Errors** have the envelope \`{ "error": { "code", "message", "retry_after"?, "details"?, "request_id" } }\`, on unknown paths
(404 \`not_found\`) and wrong methods (405 \`method_not_allowed\`, with \`Allow\`) too. \`details\` names the invalid fields of the request (at most twenty) as JSON
Pointers; a query parameter is a pointer to the top level. Requests that are not valid HTTP, or have headers of more than 16 KiB (431), are rejected without the envelope.
Retry 429 and 503 after \`Retry-After\` seconds, 500 with growing delays.

| code | status | |
|---|---|---|
${Object.entries(ERROR_CODES)
	.map(([code, [status, sentence]]) => `| \`${code}\` | ${status} | ${sentence} |`)
	.join('\n')}
`;
