import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asksYesOrNo } from '../../src/extractive/question/yes-no.ts';
import type { SpokenLanguage } from '../../src/extractive/spoken-language.ts';
import { citedIndexes } from '../../src/models/index.ts';
import { passage } from '../support/passage.ts';
import { ask } from './fixtures/ask.ts';

const LISTS: Array<[text: string, question: string, answer: string]> = [
	[
		'We deliver to the Netherlands, Belgium and Germany.',
		'Do you deliver to the UK?',
		'United Kingdom is not listed: Netherlands, Belgium, Germany. [1]',
	],
	[
		'We deliver to NL, BE and DE.',
		'Do you ship to the UK?',
		'United Kingdom is not listed: Netherlands, Belgium, Germany. [1]',
	],
	[
		'These are the countries that we ship to.\n\nCountry | Shipping cost\nNetherlands | €3.95\nBelgium | €5.50\nGermany | €6.90',
		'Do you ship to Norway?',
		'Norway is not listed: Netherlands, Belgium, Germany. [1]',
	],
	[
		'Wir liefern in die Niederlande, nach Belgien und nach Deutschland.',
		'Liefern Sie auch in die Schweiz?',
		'Schweiz ist nicht aufgeführt: Niederlande, Belgien, Deutschland. [1]',
	],
	[
		'Nous livrons en France, en Belgique et au Luxembourg.',
		'Livrez-vous en Suisse ?',
		'Suisse ne figure pas dans la liste : France, Belgique, Luxembourg. [1]',
	],
	[
		'Enviamos a España, Portugal y Francia.',
		'¿Envían a Italia?',
		'Italia no figura en la lista: España, Portugal, Francia. [1]',
	],
	[
		'Wij bezorgen in Nederland, België en Duitsland.',
		'Bezorgen jullie in Frankrijk?',
		'Frankrijk staat niet in de lijst: Nederland, België, Duitsland. [1]',
	],
	[
		'Entregamos em Portugal e na Espanha.',
		'Vocês entregam na Itália?',
		'Itália não consta da lista: Portugal, Espanha. [1]',
	],
	[
		'La consegna è possibile in Italia, Francia e Austria.',
		'È possibile la consegna in Germania?',
		"Germania non è nell'elenco: Italia, Francia, Austria. [1]",
	],
	[
		'We accept Visa, Mastercard and PayPal.',
		'Do you accept Bitcoin?',
		'Bitcoin is not listed: Visa, Mastercard, PayPal. [1]',
	],
	[
		'Our staff speak English, German and French.',
		'Do you speak Dutch?',
		'Dutch is not listed: English, German, French. [1]',
	],
];

test('says what a closed list has where it lacks what is asked for', async () => {
	for (const [text, question, answer] of LISTS) assert.equal(await ask(question, [passage(text)]), answer, question);
});

test('says neither yes nor that it is not listed where the text says something else', async () => {
	const asked: Array<[text: string, question: string]> = [
		['We deliver worldwide, for example to Belgium and Germany.', 'Do you deliver to the UK?'],
		['We do not deliver to Norway and Iceland.', 'Do you deliver to the UK?'],
		['We deliver to Belgium, Germany and the United Kingdom.', 'Do you deliver to the UK?'],
		['Our shops are in Belgium and Germany.', 'Do you repair kettles from the UK?'],
		['We deliver to Belgium and Germany.', 'When do you deliver to the UK?'],
		['We deliver from 9 AM to 5 PM.', 'Do you deliver to France?'],
		['We offer support in Germany, Austria and Switzerland.', 'Do you offer IT support?'],
		['We serve wines from France, Italy and Spain.', 'Do you serve turkey?'],
		['We deliver to Germany and Austria free of charge. France costs 10 euros more.', 'Do you deliver to France?'],
		['We accept all major credit cards, such as Mastercard and American Express.', 'Do you accept Visa?'],
		['We deliver to Germany and Austria.\n\nProduct | Country\nKettle | FR', 'Do you deliver to France?'],
		['We deliver to Germany and France.\n\nProduct | Country\nKettle | AT', 'Do you deliver to Austria?'],
		['We deliver to Germany and Austria. Write to france@example.com from elsewhere.', 'Do you deliver to France?'],
		['Our menu has Italian, Thai and Greek dishes.', 'Do you have an English menu?'],
	];
	for (const [text, question] of asked) {
		const answer = await ask(question, [passage(text)]);
		assert.doesNotMatch(answer, /not listed|^(Yes|No)\b/, `${question} → ${answer}`);
	}
});

test('takes no list of something else under the same heading for a closed one', async () => {
	const warehouses = passage('Our warehouses are in Poland and Spain.', { heading_path: ['Delivery'] });
	assert.doesNotMatch(await ask('Do you deliver to France?', [warehouses]), /not listed/);
});

test('takes another word in small letters for no member of a list', async () => {
	const passages = [
		passage('We accept Visa, Mastercard and PayPal.'),
		passage('The large kettle is ideal for families.', { index: 2 }),
	];
	assert.match(await ask('Do you accept iDEAL?', passages), /^iDEAL is not listed/);
});

test('says of nothing that it is not listed if the assistant asks for a probability', async () => {
	const list = passage('We accept Visa, Mastercard and PayPal.');
	assert.doesNotMatch(await ask('Do you accept Bitcoin?', [list], { min_confidence: 0.1 }), /not listed/);
});

test('says yes or no only in the words of a text', async () => {
	const text = passage('Dogs are welcome on the terrace. Smoking is not allowed in the rooms.');
	for (const question of ['Are dogs welcome on the terrace?', 'Is smoking allowed in the rooms?']) {
		const answer = await ask(question, [text]);
		assert.deepEqual(citedIndexes(answer, [text]), [1], answer);
		assert.doesNotMatch(answer, /^(Yes|No)\b/);
	}
});

test('tells questions for yes or no from others in each language', () => {
	const asked: Array<[SpokenLanguage, yes: string, other: string]> = [
		['en', 'Do you ship to Norway?', 'Where do you ship to?'],
		['de', 'Liefern Sie nach Norwegen?', 'Wohin liefern Sie?'],
		['fr', 'Livrez-vous en Norvège ?', 'Où livrez-vous ?'],
		['es', '¿Envían a Noruega?', '¿Adónde envían?'],
		['nl', 'Bezorgen jullie in Noorwegen?', 'Waar bezorgen jullie?'],
		['pt', 'Vocês entregam na Noruega?', 'Onde vocês entregam?'],
		['it', 'Spedite in Norvegia?', 'Dove spedite?'],
		['ja', 'ノルウェーに発送できますか？', 'どこに発送できますか？'],
		['ar', 'هل تشحنون إلى النرويج؟', 'أين تشحنون؟'],
	];
	for (const [language, yes, other] of asked) {
		assert.equal(asksYesOrNo(yes, language), true, yes);
		assert.equal(asksYesOrNo(other, language), false, other);
	}
});
