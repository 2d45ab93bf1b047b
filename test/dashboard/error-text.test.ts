import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_CODES } from '../../src/base/errors.ts';
import * as patterns from '../../src/contract/patterns.ts';
import { detailsOf } from '../../src/contract/validation-details.ts';
import { errors as de } from '../../src/dashboard/languages/de/errors.ts';
import { errors as en } from '../../src/dashboard/languages/en/errors.ts';
import { errorText, fieldErrorText } from '../../src/dashboard/languages/error-text.ts';

test('every code of the API has a German sentence, and no English text is for an unknown code', () => {
	for (const code of Object.keys(ERROR_CODES)) {
		const text = errorText(de, { code, message: 'The server’s sentence.' });
		assert.notEqual(text, 'The server’s sentence.', code);
		assert.match(text, /^[A-ZÄÖÜ].*[.]$/, code);
	}
	for (const code of Object.keys(en.byCode)) assert.ok(Object.hasOwn(ERROR_CODES, code), code);
});

test('a code without a text has the sentence of the server', () => {
	const error = { code: 'new_code', message: 'Something new happened.' };
	assert.equal(errorText(de, error), error.message);
	assert.equal(errorText(en, { code: 'not_found', message: 'The tool does not exist.' }), 'The tool does not exist.');
	assert.equal(errorText(de, { code: 'toString', message: 'Something.' }), 'Something.');
});

test('a sentence that says more than its code keeps what it says', () => {
	const limit = { code: 'plan_limit_exceeded', message: 'A workspace has at most 500 canned replies.' };
	assert.equal(errorText(de, limit), 'Ein Arbeitsbereich hat höchstens 500 Textbausteine.');
	const other = { code: 'plan_limit_exceeded', message: 'A plan has at most $& seats.' };
	assert.ok(errorText(de, other).endsWith(': A plan has at most $& seats.'));
	const signIn = { code: 'unauthorized', message: 'The email or the password is wrong.' };
	assert.equal(errorText(de, signIn), 'E-Mail oder Passwort ist falsch.');
});

test('rejected fields are named with their reasons', () => {
	const details = [
		{ path: '/name', message: 'must not be empty' },
		{ path: '/url', message: 'must be an https URL without spaces and control characters' },
	];
	assert.equal(
		errorText(de, { code: 'invalid_request', message: '/name must not be empty.', details }),
		'Der Server hat die Angaben abgelehnt: /name darf nicht leer sein; /url muss eine https-Adresse ohne Leerzeichen und Steuerzeichen sein.',
	);
});

test('a field whose error is a sentence has the text of the code with that sentence', () => {
	const message = 'The host 192.0.2.1 is not on the public internet: this server does not connect to it.';
	const text = `Mit dieser Adresse verbindet sich der Server nicht: ${message}`;
	assert.equal(fieldErrorText(de, 'url_not_allowed', message), text);
	assert.equal(errorText(de, { code: 'url_not_allowed', message, details: [{ path: '/url', message }] }), text);
	const domain = '"shop.example/path" is not a domain. Write shop.example.';
	assert.match(fieldErrorText(de, 'invalid_request', domain), /^„shop\.example\/path“ ist keine Domain\. /);
});

test('every reason of the validation has a German text', () => {
	const sources = Object.values(patterns).filter((value) => typeof value === 'string');
	assert.ok(sources.length > 8);
	const errors = [
		...sources.map((pattern) => ({ keyword: 'pattern', params: { pattern } })),
		...['array', 'boolean', 'integer', 'number', 'object', 'string', ['string', 'null']].map((type) => ({
			keyword: 'type',
			params: { type },
		})),
		...['date-time', 'time-zone'].map((format) => ({ keyword: 'format', params: { format } })),
		...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((keyword) => ({
			keyword,
			params: { limit: 0.5 },
		})),
		...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'].flatMap((keyword) => [
			{ keyword, params: { limit: 1 } },
			{ keyword, params: { limit: 40 } },
		]),
		{ keyword: 'uniqueItems', params: { i: 0, j: 2 } },
		{ keyword: 'required', params: { missingProperty: 'name' } },
		{ keyword: 'additionalProperties', params: { additionalProperty: 'nmae' } },
		{ keyword: 'enum', params: { allowedValues: ['asc', 'desc'] } },
	];
	for (const error of errors) {
		const ajvError = { ...error, instancePath: '/field', schemaPath: '' };
		const [detail] = detailsOf([ajvError], 'body', '', 1);
		assert.ok(detail);
		const text = fieldErrorText(de, 'invalid_request', detail.message);
		assert.notEqual(text, detail.message);
		assert.doesNotMatch(text, /\{\d\}/);
		assert.equal(fieldErrorText(en, 'invalid_request', detail.message), detail.message);
	}
	assert.equal(
		fieldErrorText(de, 'invalid_request', 'must have at most 200 characters'),
		'darf höchstens 200 Zeichen haben',
	);
	assert.equal(fieldErrorText(de, 'invalid_request', 'is unheard of'), 'is unheard of');
});
