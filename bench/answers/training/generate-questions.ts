import type { QuotablePassage } from '../../../src/extractive/index.ts';
import {
	type AnswerType,
	functionWords,
	matchesAnswerType,
	type PassageReading,
	synonymGroups,
} from '../../../src/extractive/training/index.ts';
import { analyse } from '../../../src/text/index.ts';
import type { SeededRandom } from './seeded-random.ts';

/** What a passage says: a subject, an attribute of it, and the value. */
export interface Fact {
	/** The names of the row, or the topic of a pair; empty where the attribute stands alone. */
	subject: string;
	/** The name of the column, or the key; empty for a sentence. */
	attribute: string;
	/** The words of a sentence without its figures; empty for anything else. */
	words: string;
	/** The text that a right answer has. */
	value: string;
	/** The values of other rows and columns, which it must not have. */
	others: string[];
	passage: QuotablePassage;
}

/** Questions about a subject and its attribute by the type of the value. `{a}` is the attribute, `{s}` the subject. */
const TEMPLATES: Record<string, Partial<Record<AnswerType | 'any' | 'sentence', string[]>>> = {
	en: {
		price: [
			'How much is {s}?',
			'What does {s} cost?',
			'price of {s}',
			'How much do I pay for {s} {a}?',
			'{a} for {s}?',
		],
		phone: ['What is the phone number of {s}?', 'How can I call {s}?', '{s} phone number', 'telephone {s}'],
		email: ['What is the email address of {s}?', 'Where do I write to for {s}?', '{s} email'],
		time: ['When is {s}?', 'When is {s} {a}?', '{s} {a}?', 'At what time is {s} {a}?', 'what are the hours of {s} {a}'],
		duration: ['How long is {s} {a}?', 'How long does {s} take?', '{s}: how long is the {a}?'],
		person: ['Who is {a} of {s}?', 'Who is responsible for {s}?', '{a} of {s}?'],
		number: ['How many {a} does {s} have?', 'What is the {a} of {s}?', '{a} {s}'],
		any: [
			'What is the {a} of {s}?',
			'{s} {a}?',
			'Which {a} does {s} have?',
			'what about the {a} of {s}',
			'Tell me the {a} for {s}',
			'Is there a {a} for {s}?',
		],
		sentence: [
			'{w}?',
			'What about {w}?',
			'Is {w} possible?',
			'Can you tell me about {w}?',
			'How is it with {w}',
			'Do you have {w}?',
		],
	},
	de: {
		price: ['Was kostet {s}?', 'Wie teuer ist {s}?', 'Preis {s}', 'Wie viel zahle ich für {s} {a}?', '{a} für {s}?'],
		phone: ['Telefonnummer von {s}?', 'Unter welcher Nummer erreiche ich {s}?', 'Wo rufe ich an für {s}?'],
		email: ['An welche Mailadresse schreibe ich für {s}?', 'E-Mail {s}'],
		time: ['Wann ist {s}?', 'Wann ist {s} {a}?', '{s} {a}?', 'Um wie viel Uhr ist {s} {a}?', 'Öffnungszeiten {s} {a}'],
		duration: ['Wie lange dauert {s}?', 'Wie lang ist {a} bei {s}?', '{s}: wie lange {a}?'],
		person: ['Wer ist {a} von {s}?', 'Wer ist für {s} zuständig?', '{a} {s}?'],
		number: ['Wie viele {a} hat {s}?', 'Wie hoch ist {a} bei {s}?', '{a} {s}'],
		any: [
			'Was ist {a} von {s}?',
			'{s} {a}?',
			'Welche {a} hat {s}?',
			'wie ist das mit {a} bei {s}',
			'Gibt es {a} für {s}?',
		],
		sentence: ['{w}?', 'Wie ist das mit {w}?', 'Ist {w} möglich?', 'Darf man {w}?', 'Gibt es {w}?', 'Was ist mit {w}'],
	},
	fr: {
		price: ['Combien coûte {s} ?', 'Quel est le prix de {s} ?', 'tarif {s}', '{a} pour {s} ?'],
		phone: ['Quel est le téléphone de {s} ?', 'À quel numéro appeler {s} ?', 'téléphone {s}'],
		email: ["Quelle est l'adresse mail de {s} ?", 'courriel {s}'],
		time: ['Quand est {s} ?', '{s} {a} ?', 'À quelle heure {s} {a} ?', 'horaires {s} {a}'],
		duration: ['Combien de temps dure {s} ?', 'Quelle est la durée de {s} {a} ?'],
		person: ['Qui est {a} de {s} ?', 'Qui est responsable de {s} ?', '{a} {s} ?'],
		number: ['Combien de {a} pour {s} ?', 'Quel est {a} de {s} ?', '{a} {s}'],
		any: ['Quel est {a} de {s} ?', '{s} {a} ?', 'Y a-t-il {a} pour {s} ?', "c'est quoi {a} de {s}"],
		sentence: [
			'{w} ?',
			'Et pour {w} ?',
			'Est-ce que {w} est possible ?',
			'Avez-vous {w} ?',
			'Que se passe-t-il avec {w} ?',
		],
	},
};
/** Questions for a type of answer alone, without a subject, and for the values of all rows of a table. */
const BARE_TEMPLATES: Record<string, { phone: string[]; email: string[]; column: string[] }> = {
	en: {
		phone: ['phone number', 'What is your phone number?', 'Can I call you?', 'your telephone number please'],
		email: ['email', 'What is your email address?', 'your e-mail address please'],
		column: ['{a}?', 'What is the {a}?', 'How is the {a}?', 'Tell me the {a}'],
	},
	de: {
		phone: ['Telefonnummer', 'Wie ist eure Telefonnummer?', 'Kann ich euch anrufen?'],
		email: ['E-Mail', 'Wie ist eure E-Mail-Adresse?', 'Mailadresse bitte'],
		column: ['{a}?', 'Was ist {a}?', 'Wie ist {a}?'],
	},
	fr: {
		phone: ['numéro de téléphone', 'Quel est votre numéro de téléphone ?', 'Puis-je vous appeler ?'],
		email: ['e-mail', 'Quelle est votre adresse e-mail ?', 'votre adresse mail svp'],
		column: ['{a} ?', 'Quel est {a} ?', "C'est quoi {a} ?"],
	},
};
const BARE_VALUES = {
	phone: /(?<![\p{N}.,])(?:\+\d|\(?0\d|\(\d{2,4}\))[\d ()./–-]{4,}\d/gu,
	email: /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/gu,
};
/** A table of more rows is not given whole. */
const MAX_COLUMN_ROWS = 8;
const TYPES: readonly AnswerType[] = ['phone', 'email', 'price', 'time', 'duration', 'person', 'number'];
const MAX_VALUE_CHARACTERS = 200;
const MIN_SENTENCE_WORDS = 6;
const MAX_SENTENCE_WORDS = 30;
const SYNONYM_SHARE = 0.3;
const DROPPED_SHARE = 0.12;
const MAX_ASKED_WORDS = 4;

/** The facts of a passage: each cell of a table, each pair, each sentence. */
export function factsOf({ units, tables }: PassageReading, passage: QuotablePassage): Fact[] {
	const facts: Fact[] = [];
	for (const { label, topic, text, kind, isAnnouncement, isQuestion, words } of units) {
		if (isAnnouncement || kind === 'code' || text.length > MAX_VALUE_CHARACTERS) continue;
		if (label !== '') facts.push({ subject: topic, attribute: label, words: '', value: text, others: [], passage });
		else if (isQuestion) facts.push({ subject: '', attribute: '', words: topic, value: text, others: [], passage });
		else if (words >= MIN_SENTENCE_WORDS && words <= MAX_SENTENCE_WORDS)
			facts.push({ subject: '', attribute: '', words: text, value: text, others: [], passage });
	}
	for (const { header, rows, labelColumns } of tables) {
		for (const row of rows) {
			const subject = row
				.slice(0, labelColumns)
				.map((cell) => cell.text)
				.join(' ');
			for (const [column, { text }] of row.entries()) {
				if (column < labelColumns || text === '' || subject.trim() === '') continue;
				const attribute = header?.[column]?.text ?? '';
				const others = rows.filter((other) => other !== row).map((other) => other[column]?.text ?? '');
				facts.push({ subject, attribute, words: '', value: text, others: othersOf(text, others), passage });
			}
		}
	}
	return facts;
}

/** The words of the question for a fact; empty if it has too few. */
export function questionFor(fact: Fact, language: string, random: SeededRandom): string {
	const templates = TEMPLATES[language] ?? (TEMPLATES.en as (typeof TEMPLATES)[string]);
	if (fact.words !== '') {
		const words = askedWords(fact.words, language, random);
		return words === '' ? '' : fill(random.pick(templates.sentence ?? []), { w: words }, random);
	}
	const subject = paraphrase(fact.subject, language, random);
	const attribute = paraphrase(fact.attribute, language, random);
	if (subject === '' && attribute === '') return '';
	const type = TYPES.find((one) => matchesAnswerType(fact.value, one));
	const typed = (type && templates[type]) ?? [];
	const choice = subject !== '' && typed.length > 0 && random.chance(0.6) ? typed : (templates.any ?? []);
	return fill(random.pick(choice), { s: subject || attribute, a: subject === '' ? '' : attribute }, random);
}

/** A question without a subject, and what a right answer has. */
export interface BareQuestion {
	question: string;
	/** Empty if the documents have none. */
	required: string[][];
}

/** Questions for a telephone number or a mail address: any of the documents is right. */
export function bareQuestions(passages: readonly QuotablePassage[], language: string): BareQuestion[] {
	const templates = BARE_TEMPLATES[language] ?? (BARE_TEMPLATES.en as (typeof BARE_TEMPLATES)[string]);
	return (['phone', 'email'] as const).flatMap((type) => {
		const values = [...new Set(passages.flatMap(({ text }) => text.match(BARE_VALUES[type]) ?? []))];
		return templates[type].map((question) => ({ question, required: values.length === 0 ? [] : [values] }));
	});
}

/** Questions for a column of a short table that name no row: all values are the answer. */
export function columnQuestions({ tables }: PassageReading, language: string, random: SeededRandom): BareQuestion[] {
	const templates = BARE_TEMPLATES[language] ?? (BARE_TEMPLATES.en as (typeof BARE_TEMPLATES)[string]);
	return tables.flatMap(({ header, rows, labelColumns }) => {
		if (header === null || rows.length < 2 || rows.length > MAX_COLUMN_ROWS) return [];
		return header.slice(labelColumns).flatMap(({ text: name }, at) => {
			const values = rows.map((row) => row[labelColumns + at]?.text ?? '');
			if (name === '' || values.some((value) => value === '')) return [];
			const question = fill(random.pick(templates.column), { a: paraphrase(name, language, random) }, random);
			return [{ question, required: values.map((value) => [value]) }];
		});
	});
}

function othersOf(value: string, others: readonly string[]): string[] {
	return [...new Set(others)].filter((other) => other.length > 1 && !value.includes(other) && !other.includes(value));
}

function fill(template: string, parts: Record<string, string>, random: SeededRandom): string {
	const text = template.replace(/\{(\w)\}/g, (_, name: string) => parts[name] ?? '').replace(/\s+/g, ' ');
	const tidy = text.replace(/ (of|for|von|für|de|pour|bei) ?(?=\?|$)/, '').trim();
	return random.chance(0.3) ? tidy.toLowerCase() : tidy;
}

/** Up to four content words of a sentence that stand near each other, with synonyms. */
function askedWords(text: string, language: string, random: SeededRandom): string {
	const { ignored, lowWeight } = functionWords(language);
	const content = text.split(/\s+/).filter((word) => {
		const [term] = analyse(word, language);
		return term !== undefined && !ignored.has(term) && !lowWeight.has(term) && !/\p{Nd}/u.test(word);
	});
	if (content.length < 2) return '';
	const count = 2 + Math.floor(random.next() * (MAX_ASKED_WORDS - 1));
	const from = Math.floor(random.next() * Math.max(1, content.length - count));
	return paraphrase(content.slice(from, from + count + 1).join(' '), language, random);
}

/** The words, some left out and some replaced by synonyms. */
function paraphrase(text: string, language: string, random: SeededRandom): string {
	const groups = synonymGroups(language);
	const words = text.split(/\s+/).map((one) => one.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}%€$£]+$/gu, ''));
	const kept = words.filter((word) => word !== '' && (words.length < 3 || !random.chance(DROPPED_SHARE)));
	return kept
		.map((word) => {
			const group = random.chance(SYNONYM_SHARE) ? groups.find((one) => one.includes(word.toLowerCase())) : undefined;
			return group === undefined ? word : random.pick(group);
		})
		.join(' ');
}
