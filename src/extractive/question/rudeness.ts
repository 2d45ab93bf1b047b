import { analyse } from '../../text/index.ts';
import type { SpokenLanguage } from '../spoken-language.ts';
import { isFunctionWord } from './function-words.ts';

/**
 * Words and phrases that only insult or swear. Words that may be a topic of documents, such as `rubbish`, are not among them, nor are
 * words that mean something else in another of these languages, such as `con`, `mist`, `dom` and `burro`, except in phrases.
 */
const RUDE: Record<SpokenLanguage, string> = {
	en: 'shut up|go away|go to hell|piss off|screw you|fuck|fuck off|fucking|fucked|fucker|shit|shitty|bullshit|crap|crappy|stupid|idiot|idiots|idiotic|moron|morons|dumb|useless|worthless|asshole|bitch|bastard|damn|damned|suck|sucks|wtf|stfu|pathetic|dickhead|hate|worst|terrible|horrible|bot|robot|thing|answer|piece|so|are|is',
	de: 'halt die klappe|halt den mund|verpiss dich|leck mich|scheiß|scheiße|scheiss|scheisse|verdammt|idiot|idioten|dumm|dummer|blöd|blöder|doof|nutzlos|unfähig|arschloch|so ein mist|verdammter mist|arsch|hasse|schrecklich|bot|roboter|ding|so|total|echt|bist|ist|sind|bin|seid',
	fr: 'ta gueule|va te faire voir|va te faire foutre|ferme la|merde|putain|sale con|pauvre con|tu es con|êtes con|connard|connasse|idiot|idiote|stupide|es nul|êtes nul|est nul|nulle|débile|inutile|déteste|bot|robot|truc|es|êtes|est|c',
	es: 'vete a la mierda|cállate|mierda|joder|idiota|idiotas|estúpido|estúpida|tonto|tonta|inútil|gilipollas|imbécil|odio|bot|robot|cosa|eres|es|son|esto',
	nl: 'hou je mond|hou je bek|rot op|flikker op|kut|klote|klootzak|godverdomme|verdomme|idioot|stom|stomme|zo dom|wat dom|bent dom|ben je dom|domme|nutteloos|waardeloos|sukkel|haat|bot|robot|ding|bent|ben|is|wat|een',
	pt: 'cala a boca|vai se foder|vai à merda|merda|porra|caralho|idiota|estúpido|estúpida|você é burro|tu és burro|seu burro|que burro|burra|inútil|imbecil|odeio|bot|robô|coisa|você|é|és|isto|isso',
	it: 'stai zitto|vai al diavolo|vaffanculo|merda|cazzo|idiota|stupido|stupida|scemo|inutile|stronzo|imbecille|odio|bot|robot|cosa|sei|è|questo',
	ja: 'うるさい|黙れ|だまれ|バカ|ばか|馬鹿|アホ|クソ|くそ|役立たず|死ね',
	ar: 'اخرس|غبي|أحمق|تافه|اللعنة|حقير',
};
/** They accompany an insult, and mean nothing rude alone. */
const NEUTRAL: ReadonlySet<string> = new Set(
	'bot robot roboter robô thing ding truc cosa coisa answer piece are is bist ist sind bin seid es êtes est c eres son esto bent ben wat een você é és isto isso sei è questo so total echt worst terrible horrible schrecklich'.split(
		' ',
	),
);

const phrases = Object.entries(RUDE).map(([language, list]) => ({
	language: language as SpokenLanguage,
	phrases: list
		.split('|')
		.map((phrase) => analyse(phrase, null))
		.sort((a, b) => b.length - a.length),
}));

/** The language of a message that only insults or swears: rude words, besides function words of their language; null for any other. */
export function rudeLanguage(message: string): SpokenLanguage | null {
	const words = analyse(message, null);
	for (const { language, phrases: rude } of phrases) {
		let isRude = false;
		let at = 0;
		while (at < words.length) {
			const phrase = rude.find((own) => own.every((word, i) => words[at + i] === word));
			if (phrase === undefined && !isFunctionWord(words[at] as string, language)) break;
			isRude ||= phrase !== undefined && !NEUTRAL.has(phrase.join(' '));
			at += phrase?.length ?? 1;
		}
		if (isRude && at === words.length) return language;
	}
	return null;
}
