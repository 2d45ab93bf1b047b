import { analyse } from '../text/index.ts';
import type { SpokenLanguage } from './phrases.ts';

/** The kind of a message that asks nothing. */
export type SmallTalk = 'greeting' | 'thanks' | 'farewell';

/** A message that consists of courtesies only. */
export interface Courtesy {
	kind: SmallTalk;
	language: SpokenLanguage;
}

/** `filler` has words that accompany a courtesy and mean nothing alone. */
const COURTESIES: Record<SpokenLanguage, Record<SmallTalk | 'filler', string>> = {
	en: {
		greeting:
			'hi|hello|hey|hiya|howdy|greetings|good morning|good afternoon|good evening|good day|how are you|nice to meet you',
		thanks:
			'thanks|thank you|thx|ty|cheers|thanks a lot|many thanks|thank you very much|thank you so much|much appreciated|great help|that helps|that helped|perfect|very helpful|that was helpful',
		farewell: 'bye|goodbye|bye bye|see you|see you later|have a nice day|have a great day|good night',
		filler: 'there|all|everyone|team|bot|ok|okay|great|and|you|well|a lot|for your help|for the help|so much|very much',
	},
	de: {
		greeting: 'hallo|hi|hey|moin|servus|guten tag|guten morgen|guten abend|grüß gott|grüezi',
		thanks: 'danke|danke schön|dankeschön|vielen dank|besten dank|danke sehr|herzlichen dank|super',
		farewell: 'tschüss|tschüs|auf wiedersehen|bis bald|schönen tag|schönen tag noch',
		filler: 'zusammen|ok|okay|prima|und|für die hilfe|für ihre hilfe|für deine hilfe',
	},
	fr: {
		greeting: 'bonjour|salut|bonsoir|coucou',
		thanks: 'merci|merci beaucoup|merci bien|mille mercis|parfait',
		farewell: 'au revoir|à bientôt|bonne journée|bonne soirée|adieu',
		filler: "ok|à tous|et|super|d'accord|pour votre aide|pour ton aide",
	},
	es: {
		greeting: 'hola|buenos días|buenas tardes|buenas noches|buenas|qué tal',
		thanks: 'gracias|muchas gracias|mil gracias|perfecto',
		farewell: 'adiós|hasta luego|hasta pronto|chao',
		filler: 'ok|vale|y|a todos|por la ayuda|por su ayuda|por tu ayuda',
	},
	nl: {
		greeting: 'hallo|hoi|hey|goedemorgen|goedemiddag|goedenavond|goedendag|dag',
		thanks: 'bedankt|dank je|dank u|dank je wel|dank u wel|dankjewel|hartelijk dank|heel erg bedankt',
		farewell: 'tot ziens|doei|doeg|tot later|fijne dag',
		filler: 'ok|oké|en|allemaal|voor de hulp|voor uw hulp|voor je hulp',
	},
	pt: {
		greeting: 'olá|oi|bom dia|boa tarde|boa noite|tudo bem',
		thanks: 'obrigado|obrigada|muito obrigado|muito obrigada|valeu|perfeito',
		farewell: 'tchau|adeus|até logo|até mais',
		filler: 'ok|e|a todos|pela ajuda',
	},
	it: {
		greeting: 'ciao|salve|buongiorno|buon giorno|buonasera|buona sera',
		thanks: 'grazie|grazie mille|molte grazie|tante grazie|perfetto',
		farewell: 'arrivederci|a presto|addio|buona giornata|buona serata',
		filler: "ok|e|a tutti|per l'aiuto",
	},
	ja: {
		greeting: 'こんにちは|おはよう|おはようございます|こんばんは|はじめまして|どうも',
		thanks:
			'ありがとう|ありがとうございます|ありがとうございました|どうもありがとう|どうもありがとうございます|助かりました',
		farewell: 'さようなら|さよなら|またね|失礼します',
		filler: 'はい|わかりました',
	},
	ar: {
		greeting: 'مرحبا|أهلا|أهلا وسهلا|السلام عليكم|صباح الخير|مساء الخير|سلام',
		thanks: 'شكرا|شكرا جزيلا|شكرا لك|أشكرك|ألف شكر',
		farewell: 'مع السلامة|إلى اللقاء|وداعا',
		filler: 'حسنا|لك|جدا|و',
	},
};

interface Phrase {
	words: string[];
	language: SpokenLanguage;
	kind: SmallTalk | 'filler';
}

/** By first word, longest first, so that `thanks a lot` is not read as `thanks` and two other words. */
const phrases = new Map<string, Phrase[]>();
for (const [language, kinds] of Object.entries(COURTESIES) as Array<[SpokenLanguage, Record<string, string>]>) {
	for (const [kind, list] of Object.entries(kinds) as Array<[Phrase['kind'], string]>) {
		for (const text of list.split('|')) {
			const words = analyse(text, null);
			const first = words[0] as string;
			phrases.set(first, [...(phrases.get(first) ?? []), { words, language, kind }]);
		}
	}
}
for (const list of phrases.values()) list.sort((a, b) => b.words.length - a.words.length);

/** Courtesies are short. A longer message asks something. */
const MAX_COURTESY_LENGTH = 80;
/** The courtesy with the highest rank is the kind of the message: `hello, thank you, bye` is a farewell. */
const RANK: Record<Phrase['kind'], number> = { filler: 0, greeting: 1, thanks: 2, farewell: 3 };

/** The courtesy of a message; null if the message has any other words. */
export function courtesyOf(message: string): Courtesy | null {
	if (message.length > MAX_COURTESY_LENGTH || message.trim() === '') return null;
	const words = analyse(message, null);
	let courtesy: Phrase | null = null;
	for (let at = 0; at < words.length; ) {
		const phrase = phrases.get(words[at] as string)?.find(({ words: own }) => own.every((w, i) => words[at + i] === w));
		if (!phrase) return null;
		if (!courtesy || RANK[phrase.kind] > RANK[courtesy.kind]) courtesy = phrase;
		at += phrase.words.length;
	}
	return courtesy === null || courtesy.kind === 'filler' ? null : { kind: courtesy.kind, language: courtesy.language };
}

/** The message without opening and closing courtesies: `Hi! Where do I park? Thanks` → `Where do I park?`. */
export function withoutCourtesies(message: string): string {
	const clauses = message.match(/[^.,!?;\n。、！？،؟]+[.,!?;\n。、！？،؟]*/g) ?? [];
	let from = 0;
	let to = clauses.length;
	while (from < to && courtesyOf(clauses[from] as string)) from++;
	while (to > from && courtesyOf(clauses[to - 1] as string)) to--;
	return from === to ? message : clauses.slice(from, to).join('').trim();
}
