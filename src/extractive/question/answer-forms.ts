import type { AnswerType } from './answer-type-cues.ts';
import { hasClock, hasDate, hasDuration, hasNumber } from './values.ts';

const PHONE = /(?<![\p{N}.,])(?:\+\d|\(?0\d|\(\d{2,4}\)|\d{3}[ -]\d{3})[\d\s()./–-]{4,}\d/u;
const EMAIL = /[^\s@]@[^\s@]+\.[^\s@]/u;
const MONEY =
	/[$€£¥₹]|(?<![\p{L}])(EUR|USD|GBP|CHF|euros?|dollars?|pounds?|franken|francs?|cents?|free|gratis|kostenlos|kostenfrei|umsonst|frei|gratuit[es]*|offert[es]*|grátis|gratuito|included|inklusive|inclus|円|per cent|percent)(?![\p{L}])|\p{N}\s?%/iu;
const AGE =
	/\p{Nd}+\s?(?:years?|months?|weeks?|jahren?|monaten?|monate|wochen?|ans?|mois|semaines?|años?|meses|jaar|maanden|anos?|anni|mesi|歳)(?!\p{L})|(?<!\p{L})(?:age|aged|alter|âge)(?!\p{L})/iu;
/** Two capitalised words, but not after an article: `der Sauna Birkenhof`. */
const NAME =
	/(?<!(?:^|\s)(?:the|der|die|das|dem|den|des|im|am|zum|zur|la|le|du|au|el|los|las|il|lo)\s)(?<!\p{L})\p{Lu}[\p{L}'’.-]+\s+(?:(?:van|von|de|del|della|der|la|le|el|al|bin)\s+)*\p{Lu}[\p{L}'’-]+|@|さん|様|部|課|担当/u;
/** A house number or a postal code with names, or a street with its number. */
const ADDRESS =
	/(?<![\p{L}\p{N}])(?:\p{Nd}{1,4}[a-z]?,?\s\p{Lu}\p{L}{1,30}\s\p{Lu}\p{L}|\p{Nd}{4,5}\s\p{Lu}\p{L}|\p{Lu}\p{L}{1,40}\s\p{Nd}{1,4}[a-z]?,)|(?<!\p{L})\p{Lu}\p{L}{0,40}(?:straße|str\.|weg|gasse|platz|allee|laan|straat|plein|STRASSE|WEG|GASSE|PLATZ|ALLEE)\s\p{Nd}/u;
/** `in Edinburgh`, `at the Royal Mile`, `im Foyer`. */
const PLACE_PHRASE =
	/(?<!\p{L})(?:in|at|near|to|im|am|bei|nach|à|au|dans|en|em|bij|te|presso)\s(?:the\s|der\s|dem\s|den\s|la\s|le\s|het\s|de\s|el\s|o\s|il\s)?\p{Lu}\p{L}/u;
const PLACE_WORD =
	/https?:|www\.|(?<!\p{L})(?:street|road|lane|avenue|square|floor|room|rue|quai|place|building|town|city|stock|etage)(?!\p{L})|階|室|駅|市/iu;
/** A place is written in many ways. */
const PLACE_NAME = /\S\s+\p{Lu}\p{L}+|\p{Nd}/u;

/** Whether a text has what an answer of this type contains. Steps are recognised by the form of a list instead. */
export function matchesAnswerType(text: string, type: AnswerType): boolean {
	switch (type) {
		case 'steps':
			return false;
		case 'time':
			return hasClock(text) || hasDate(text);
		case 'age':
			return AGE.test(text);
		case 'duration':
			return hasDuration(text);
		case 'price':
			return MONEY.test(text);
		case 'number':
			return hasNumber(text);
		case 'phone':
			return PHONE.test(text);
		case 'email':
			return EMAIL.test(text);
		case 'person':
			return NAME.test(text);
		case 'place':
			return ADDRESS.test(text) || PLACE_PHRASE.test(text) || PLACE_WORD.test(text);
	}
}

/** Whether a text has what may answer a question of this type in another form: `within three days` for `when`. */
export function mayMatchAnswerType(text: string, type: AnswerType): boolean {
	if (type === 'time') return hasDuration(text);
	return type === 'place' && PLACE_NAME.test(text);
}
