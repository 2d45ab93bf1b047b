/** The sentences around the quotations, in one language. */
export interface Phrases {
	/** Opens the quotation of the first source. */
	accordingTo(source: string): string;
	/** Opens the quotation of each further source. */
	also(source: string): string;
	page(number: number): string;
	/** For documents without an answer. */
	nothingFound: string;
	/** For a search that failed. */
	searchFailed: string;
	greeting: string;
	thanks: string;
	farewell: string;
}

/** The languages of the phrases. A question in any other language is answered in English. */
export type SpokenLanguage = 'en' | 'de' | 'fr' | 'es' | 'nl' | 'pt' | 'it' | 'ja' | 'ar';

/** The phrases by language (ISO 639-1). */
export const PHRASES: Record<SpokenLanguage, Phrases> = {
	en: {
		accordingTo: (source) => `According to ${source}:`,
		also: (source) => `Also, from ${source}:`,
		page: (number) => `page ${number}`,
		nothingFound:
			'I could not find an answer to that in the documents available to me. You could try asking in other words.',
		searchFailed:
			'I cannot search the documents right now, so I cannot answer that from them. Please try again a little later.',
		greeting: 'Hello! What would you like to know?',
		thanks: "You're welcome! Is there anything else you would like to know?",
		farewell: 'Goodbye! Come back any time.',
	},
	de: {
		accordingTo: (source) => `Laut ${source}:`,
		also: (source) => `Außerdem, aus ${source}:`,
		page: (number) => `Seite ${number}`,
		nothingFound:
			'Dazu habe ich in den Dokumenten, die mir vorliegen, keine Antwort gefunden. Vielleicht hilft eine andere Formulierung.',
		searchFailed:
			'Ich kann die Dokumente gerade nicht durchsuchen und daher nicht daraus antworten. Bitte versuchen Sie es etwas später noch einmal.',
		greeting: 'Hallo! Was möchten Sie wissen?',
		thanks: 'Gern geschehen! Möchten Sie noch etwas wissen?',
		farewell: 'Auf Wiedersehen! Sie können jederzeit wieder fragen.',
	},
	fr: {
		accordingTo: (source) => `Selon ${source} :`,
		also: (source) => `Voir aussi ${source} :`,
		page: (number) => `page ${number}`,
		nothingFound:
			"Je n'ai pas trouvé de réponse à cette question dans les documents dont je dispose. Vous pouvez essayer de la formuler autrement.",
		searchFailed:
			'Je ne peux pas consulter les documents pour le moment et ne peux donc pas répondre. Veuillez réessayer un peu plus tard.',
		greeting: 'Bonjour ! Que souhaitez-vous savoir ?',
		thanks: 'Avec plaisir ! Souhaitez-vous savoir autre chose ?',
		farewell: 'Au revoir ! Revenez quand vous voulez.',
	},
	es: {
		accordingTo: (source) => `Según ${source}:`,
		also: (source) => `Además, en ${source}:`,
		page: (number) => `página ${number}`,
		nothingFound:
			'No he encontrado una respuesta a eso en los documentos de los que dispongo. Puede intentar preguntarlo con otras palabras.',
		searchFailed:
			'En este momento no puedo buscar en los documentos, así que no puedo responder. Inténtelo de nuevo un poco más tarde.',
		greeting: '¡Hola! ¿Qué le gustaría saber?',
		thanks: '¡De nada! ¿Le gustaría saber algo más?',
		farewell: '¡Hasta luego! Vuelva cuando quiera.',
	},
	nl: {
		accordingTo: (source) => `Volgens ${source}:`,
		also: (source) => `Ook, uit ${source}:`,
		page: (number) => `pagina ${number}`,
		nothingFound:
			'Ik heb daarop geen antwoord gevonden in de documenten die ik tot mijn beschikking heb. U kunt het in andere woorden proberen.',
		searchFailed:
			'Ik kan de documenten op dit moment niet doorzoeken en kan daarom niet antwoorden. Probeer het later nog eens.',
		greeting: 'Hallo! Wat wilt u weten?',
		thanks: 'Graag gedaan! Wilt u nog iets anders weten?',
		farewell: 'Tot ziens! U kunt altijd terugkomen.',
	},
	pt: {
		accordingTo: (source) => `De acordo com ${source}:`,
		also: (source) => `Além disso, em ${source}:`,
		page: (number) => `página ${number}`,
		nothingFound:
			'Não encontrei uma resposta para isso nos documentos de que disponho. Pode tentar perguntar com outras palavras.',
		searchFailed:
			'Neste momento não consigo pesquisar nos documentos, por isso não posso responder. Tente novamente um pouco mais tarde.',
		greeting: 'Olá! O que gostaria de saber?',
		thanks: 'De nada! Gostaria de saber mais alguma coisa?',
		farewell: 'Até logo! Volte quando quiser.',
	},
	it: {
		accordingTo: (source) => `Secondo ${source}:`,
		also: (source) => `Inoltre, da ${source}:`,
		page: (number) => `pagina ${number}`,
		nothingFound:
			'Non ho trovato una risposta nei documenti a mia disposizione. Può provare a chiederlo con altre parole.',
		searchFailed: 'Al momento non posso consultare i documenti e quindi non posso rispondere. Riprovi tra poco.',
		greeting: 'Buongiorno! Che cosa desidera sapere?',
		thanks: "Prego! Desidera sapere qualcos'altro?",
		farewell: 'Arrivederci! Torni quando vuole.',
	},
	ja: {
		accordingTo: (source) => `${source} によると：`,
		also: (source) => `${source} には次のようにもあります：`,
		page: (number) => `${number}ページ`,
		nothingFound:
			'申し訳ありませんが、手元の文書からはご質問への答えが見つかりませんでした。別の言葉でお尋ねいただくと見つかるかもしれません。',
		searchFailed: 'ただいま文書を検索できないため、お答えできません。しばらくしてからもう一度お試しください。',
		greeting: 'こんにちは！どのようなことをお知りになりたいですか？',
		thanks: 'どういたしまして！ほかに知りたいことはありますか？',
		farewell: 'またいつでもお尋ねください。',
	},
	ar: {
		accordingTo: (source) => `وفقًا لـ ${source}:`,
		also: (source) => `وأيضًا في ${source}:`,
		page: (number) => `الصفحة ${number}`,
		nothingFound: 'لم أجد إجابة عن ذلك في المستندات المتاحة لي. يمكنك أن تجرّب السؤال بكلمات أخرى.',
		searchFailed: 'لا يمكنني البحث في المستندات الآن، لذلك لا يمكنني الإجابة. يُرجى المحاولة مرة أخرى بعد قليل.',
		greeting: 'مرحبًا! ماذا تودّ أن تعرف؟',
		thanks: 'على الرحب والسعة! هل تودّ معرفة شيء آخر؟',
		farewell: 'إلى اللقاء! يمكنك العودة في أي وقت.',
	},
};
