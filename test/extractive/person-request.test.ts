import assert from 'node:assert/strict';
import { test } from 'node:test';
import { personRequestIn } from '../../src/extractive/index.ts';

const REQUESTS: Record<string, string[]> = {
	en: [
		'I want to talk to a human',
		'Can I speak to a person, please?',
		'Hi! Could I talk to someone about my order 4711?',
		'No, let me talk to a human.',
		'That does not help. I want to talk to a human!',
		'My kettle leaks and I have tried everything. Can I talk to a real person?',
		'human please',
		"I'd like to speak to someone regarding an invoice",
	],
	de: [
		'Ich möchte mit einem Menschen sprechen',
		'Kann ich bitte mit einem Mitarbeiter sprechen?',
		'Nein, ich will mit einem Menschen reden.',
		'Das hilft mir nicht. Kann ich mit jemandem sprechen?',
		'Ich würde gerne mit jemandem sprechen wegen meiner Bestellung',
		'Mitarbeiter bitte',
	],
	fr: ['Je voudrais parler à un conseiller', "Puis-je parler à quelqu'un, s'il vous plaît ?"],
	es: ['Quiero hablar con una persona', '¿Puedo hablar con alguien sobre mi pedido?'],
	nl: ['Ik wil een medewerker spreken', 'Kan ik iemand spreken over mijn bestelling?'],
	pt: ['Quero falar com um atendente', 'Posso falar com alguém sobre o meu pedido?'],
	it: ['Vorrei parlare con un operatore'],
	ja: ['担当者と話したいです', 'オペレーターにつないでください'],
	ar: ['أريد التحدث إلى موظف'],
};

const OTHER_MESSAGES = [
	'Is a human handling my data?',
	'Do people read what I write here?',
	'Can a person under 18 order a kettle?',
	'How many people can I invite to talk to the assistant?',
	'If I call the hotline, can I talk to a human?',
	'Where can I talk to a human when the shop is closed?',
	'Is there a human resources department?',
	'Are you a human?',
	'Am I talking to a real person?',
	'Human rights policy',
	'My friend said "I want to talk to a human" and got no answer from you, why is that so?',
	'Werden meine Daten von einem Menschen bearbeitet?',
	'Wie viele Personen reicht der Kessel?',
	'Bist du ein Mensch?',
	'Wann kann ich mit einem Mitarbeiter im Laden rechnen?',
	'Kann ein Mensch den Kessel heben?',
	'Est-ce qu’un humain lit mes messages ?',
	'¿Cuántas personas trabajan en la tienda?',
	'',
];

test('finds a request for a person in every language of the phrases', () => {
	for (const [language, messages] of Object.entries(REQUESTS)) {
		for (const message of messages) {
			assert.deepEqual(personRequestIn(message), { language, isOnlyRequest: true }, message);
		}
	}
});

test('takes no question about people, or about who replies, for a request', () => {
	for (const message of OTHER_MESSAGES) assert.equal(personRequestIn(message), null, message);
	assert.equal(personRequestIn(`I want to talk to a human. ${'So it goes. '.repeat(400)}`), null, 'a long text');
});

test('says whether the message asks something else too', () => {
	for (const question of [
		'How long is the warranty? I want to talk to a human.',
		'Where are you? And let me talk to a human!',
	]) {
		assert.deepEqual(personRequestIn(question), { language: 'en', isOnlyRequest: false }, question);
	}
	assert.deepEqual(personRequestIn('Hello! How are you? Can I talk to a human?'), {
		language: 'en',
		isOnlyRequest: true,
	});
});
