// Makes a JSON Web Token that identifies a visitor to the widget (RFC 7519, HS256). Your server does this for a signed-in
// visitor, and the page passes the token to the widget: Parley.identify(token).
//
//   SECRET=… node examples/visitor-token.mjs customer-17 "Ann Example" ann@example.com
//
// SECRET is the deployment's jwt.secret, at least 32 bytes. The deployment has features.jwt_required and jwt.algorithm HS256.
import { createHmac } from 'node:crypto';

const secret = process.env.SECRET;
const [subject, name, email] = process.argv.slice(2);
if (!secret || !subject) {
	console.error('Usage: SECRET=… node examples/visitor-token.mjs SUBJECT [NAME] [EMAIL]');
	process.exit(2);
}

/** Short, because a token cannot be revoked. The widget's event `unauthorized` requests the next one. */
const LIFETIME_SECONDS = 15 * 60;

const now = Math.floor(Date.now() / 1000);
const claims = {
	// Never reuse a subject for another person, who could then read the first person's conversations.
	sub: subject,
	exp: now + LIFETIME_SECONDS,
	iat: now,
	...(name && { name }),
	...(email && { email }),
};

const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const content = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(claims)}`;
const signature = createHmac('sha256', secret).update(content).digest('base64url');
console.log(`${content}.${signature}`);
