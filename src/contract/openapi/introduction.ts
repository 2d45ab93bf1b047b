import { ERROR_CODES } from '../../base/index.ts';

/** What holds for every operation, in Markdown. */
export const introduction = `**Who calls.** Send an API key as \`Authorization: Bearer sk_…\`, or sign in for a session cookie. Both act in one workspace;
what belongs to another one does not exist for them. The widget’s operations take neither: a deployment id, and the \`Origin\`
of a page that the deployment allows.

**Requests.** Bodies are JSON (\`Content-Type: application/json\`), at most 1 MiB, files aside; less where an operation says so. Fields and
query parameters that an operation does not know are refused. Names and titles are one line with a visible
character and no control characters; longer texts may have tabs and line breaks (LF or CR LF), and no other control characters. What is said
in a conversation is kept as it was sent. \`PATCH\` is a JSON merge patch (RFC 7396). \`HEAD\` is served wherever \`GET\` is.

**Answers.** Times are ISO 8601 in UTC. Ids are opaque. New fields may appear at any time: ignore those that you do not know.

**Lists** come in pages: \`limit\` (1 to 100, default 20) and \`cursor\`, the \`next_cursor\` of the page before. Newest first,
except where said otherwise; \`order\` turns that around.

**Again, safely.** A \`POST\` with an \`Idempotency-Key\` can be repeated for 24 hours and is carried out once. Resources have an \`ETag\`:
\`If-None-Match\` saves sending one again, \`If-Match\` guards against overwriting somebody else’s change.

**Errors** have the envelope \`{ "error": { "code", "message", "retry_after"?, "details"?, "request_id" } }\`, on unknown paths
(404 \`not_found\`) and wrong methods (405 \`method_not_allowed\`, with \`Allow\`) too. \`details\` names the places in the request (twenty at most), as JSON
Pointers; query parameters stand at the top. What is not HTTP, or has headers of more than 16 KiB (431), is refused before that.
Retry 429 and 503 after \`Retry-After\` seconds, 500 with growing delays.

| code | status | |
|---|---|---|
${Object.entries(ERROR_CODES)
	.map(([code, [status, sentence]]) => `| \`${code}\` | ${status} | ${sentence} |`)
	.join('\n')}
`;
