import type { SpokenLanguage } from '../spoken-language.ts';

/** How a language asks for yes or no. */
interface YesNoWords {
	/** The beginning of such a question, in lower case; null if any question without a question word is one. */
	opening: RegExp | null;
	/** The words that ask for anything else. */
	questionWord: RegExp;
}

const WORDS: Record<SpokenLanguage, YesNoWords> = {
	en: {
		opening:
			/^(?:and |but |so |then |also |please )*(?:do|does|did|is|are|was|were|can|could|may|might|will|would|should|must|has|have|had|am|isn't|aren't|don't|doesn't|can't)\b/,
		questionWord: /^(?:and |but |so )?(?:who|whom|whose|what|when|where|which|why|how)\b/,
	},
	de: {
		opening:
			/^(?:und |oder |also )*(?:ist|sind|war|waren|kann|können|könnt|könnte|darf|dürfen|muss|müssen|gibt|habt|haben|hat|wird|werden|soll|sollte|gilt|gelten|geht|\p{L}+(?= (?:ich|du|sie|ihr|man|es|er|wir)(?!\p{L})))(?!\p{L})/u,
		questionWord: /^(?:und )?(?:we[rnm]|wessen|was|wann|wo\p{L}*|wie\p{L}*|welche[rmns]?|warum|weshalb)(?!\p{L})/u,
	},
	fr: {
		opening:
			/^(?:et |mais )*(?:est-ce|y a-t-il|vous |on peut|\p{L}+[- ](?:t-)?(?:je|tu|il|elle|on|nous|vous|ils|elles)(?!\p{L}))/u,
		questionWord:
			/^(?:et )?(?:à |de |pour |chez )?(?:qui|que|qu'est|quoi|quand|où|quel\p{L}*|lequel|comment|combien|pourquoi)(?!\p{L})/u,
	},
	es: {
		opening: null,
		questionWord:
			/(?<!\p{L})(?:qu[ée]|cu[áa]l(?:es)?|cu[áa]ndo|cu[áa]nt[oa]s?|d[óo]nde|c[óo]mo|qui[ée]n(?:es)?)(?!\p{L})/u,
	},
	nl: {
		opening: /^(?:en |maar )*\p{L}+ (?:ik|je|jij|u|jullie|we|wij|men|er|het|de|een)(?!\p{L})/u,
		questionWord: /^(?:en )?(?:wie|wat|wanneer|waar\p{L}*|welke?|waarom|hoe\p{L}*)(?!\p{L})/u,
	},
	pt: {
		opening: null,
		questionWord: /(?<!\p{L})(?:que|quem|qual|quais|quando|onde|como|quant[oa]s?|por que)(?!\p{L})/u,
	},
	it: {
		opening: null,
		questionWord: /(?<!\p{L})(?:che|chi|cosa|quale|quali|quando|dov\p{L}*|come|quant[oaie])(?!\p{L})/u,
	},
	ja: { opening: /か\s*[。？?]?\s*$/u, questionWord: /何|いつ|どこ|誰|だれ|どう|いくら|どの|どれ|どちら|なぜ|いくつ/u },
	ar: { opening: /^\s*(?:و)?(?:هل|أ)/u, questionWord: /^\s*(?:و)?(?:متى|أين|كيف|كم|من|ما|ماذا|لماذا|أي)(?!\p{L})/u },
};
/** A question of fewer words names a topic: `Orari Roma?` */
const MIN_WORDS = 3;

/** Whether a question is answered by yes or no. */
export function asksYesOrNo(question: string, language: SpokenLanguage): boolean {
	const text = question
		.toLowerCase()
		.replace(/^[\s¿"'“„«]+/u, '')
		.replaceAll('’', "'");
	const { opening, questionWord } = WORDS[language];
	if (questionWord.test(text)) return false;
	return opening === null ? /[?？]\s*$/u.test(text) && text.split(/\s+/).length >= MIN_WORDS : opening.test(text);
}
