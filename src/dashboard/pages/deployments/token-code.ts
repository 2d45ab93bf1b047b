/** What the code needs of a deployment's settings. */
export interface TokenCodeOptions {
	algorithm: 'HS256' | 'RS256' | 'ES256';
	audience: string | null;
	issuer: string | null;
	/** The key is found in a key set: the token must name it. */
	hasKeySet: boolean;
}

export const CODE_LANGUAGES = ['node', 'python', 'php'] as const;
export type CodeLanguage = (typeof CODE_LANGUAGES)[number];

/**
 * Code for a website's server that makes a visitor's token. The key comes from the environment: `CHAT_SECRET`, or the private key as
 * PEM in `CHAT_PRIVATE_KEY`.
 */
export function tokenCode(codeLanguage: CodeLanguage, options: TokenCodeOptions): string {
	return { node: nodeCode, python: pythonCode, php: phpCode }[codeLanguage](options);
}

/** Lines of the claims that the deployment asks for besides `sub` and `exp`. */
function extraClaims({ audience, issuer }: TokenCodeOptions, line: (name: string, value: string) => string): string {
	const claims = { aud: audience, iss: issuer };
	return Object.entries(claims)
		.map(([name, value]) => (value === null || value === '' ? '' : line(name, value)))
		.join('');
}

const KEY_ID = 'the id of your key';

function nodeCode(options: TokenCodeOptions): string {
	const { algorithm, hasKeySet } = options;
	const isShared = algorithm === 'HS256';
	const kid = hasKeySet && !isShared ? `, kid: '${KEY_ID}'` : '';
	const signature = {
		HS256: "createHmac('sha256', process.env.CHAT_SECRET).update(content).digest('base64url')",
		RS256: "sign('sha256', Buffer.from(content), process.env.CHAT_PRIVATE_KEY).toString('base64url')",
		ES256:
			"sign('sha256', Buffer.from(content), {\n\t\tkey: process.env.CHAT_PRIVATE_KEY,\n\t\tdsaEncoding: 'ieee-p1363',\n\t}).toString('base64url')",
	}[algorithm];
	return `import { ${isShared ? 'createHmac' : 'sign'} } from 'node:crypto';

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

// Makes a token for a signed-in visitor. It is valid for 15 minutes.
export function chatToken(user) {
	const header = { alg: '${algorithm}', typ: 'JWT'${kid} };
	const claims = {
		sub: user.id,
		name: user.name,
		email: user.email,
${extraClaims(options, (name, value) => `\t\t${name}: ${JSON.stringify(value)},\n`)}		exp: Math.floor(Date.now() / 1000) + 15 * 60,
	};
	const content = \`\${encode(header)}.\${encode(claims)}\`;
	const signature = ${signature};
	return \`\${content}.\${signature}\`;
}
`;
}

function pythonCode(options: TokenCodeOptions): string {
	const { algorithm, hasKeySet } = options;
	const claims = `    claims = {
        "sub": user["id"],
        "name": user["name"],
        "email": user["email"],
${extraClaims(options, (name, value) => `        "${name}": ${JSON.stringify(value)},\n`)}        "exp": int(time.time()) + 15 * 60,
    }`;
	if (algorithm !== 'HS256') {
		const headers = hasKeySet ? `, headers={"kid": "${KEY_ID}"}` : '';
		return `# pip install "pyjwt[crypto]"
import os
import time

import jwt


# Makes a token for a signed-in visitor. It is valid for 15 minutes.
def chat_token(user):
${claims}
    return jwt.encode(claims, os.environ["CHAT_PRIVATE_KEY"], algorithm="${algorithm}"${headers})
`;
	}
	return `import base64
import hashlib
import hmac
import json
import os
import time


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


# Makes a token for a signed-in visitor. It is valid for 15 minutes.
def chat_token(user):
    header = {"alg": "HS256", "typ": "JWT"}
${claims}
    content = b".".join(encode(json.dumps(part).encode()) for part in (header, claims))
    secret = os.environ["CHAT_SECRET"].encode()
    signature = hmac.new(secret, content, hashlib.sha256).digest()
    return (content + b"." + encode(signature)).decode()
`;
}

function phpCode(options: TokenCodeOptions): string {
	const { algorithm, hasKeySet } = options;
	const isShared = algorithm === 'HS256';
	const claims = `    $claims = [
        'sub' => $user['id'],
        'name' => $user['name'],
        'email' => $user['email'],
${extraClaims(options, (name, value) => `        '${name}' => ${phpText(value)},\n`)}        'exp' => time() + 15 * 60,
    ];`;
	if (algorithm === 'ES256') {
		const kid = hasKeySet ? `, '${KEY_ID}'` : '';
		return `<?php
// composer require firebase/php-jwt
use Firebase\\JWT\\JWT;

// Makes a token for a signed-in visitor. It is valid for 15 minutes.
function chat_token(array $user): string
{
${claims}
    return JWT::encode($claims, getenv('CHAT_PRIVATE_KEY'), 'ES256'${kid});
}
`;
	}
	const kid = hasKeySet && !isShared ? `, 'kid' => '${KEY_ID}'` : '';
	const signing = isShared
		? "    $signature = hash_hmac('sha256', $content, getenv('CHAT_SECRET'), true);"
		: "    openssl_sign($content, $signature, getenv('CHAT_PRIVATE_KEY'), OPENSSL_ALGO_SHA256);";
	return `<?php
function encode(string $data): string
{
    return rtrim(strtr(base64_encode($data), '+/', '-_'), '=');
}

// Makes a token for a signed-in visitor. It is valid for 15 minutes.
function chat_token(array $user): string
{
    $header = ['alg' => '${algorithm}', 'typ' => 'JWT'${kid}];
${claims}
    $content = encode(json_encode($header)) . '.' . encode(json_encode($claims));
${signing}
    return $content . '.' . encode($signature);
}
`;
}

/** A literal of PHP in single quotes: only the quote and the backslash have a meaning there. */
function phpText(text: string): string {
	return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
