import type { SpokenLanguage } from '../spoken-language.ts';

/** The sentences that quote nothing, in one language. */
export interface Phrases {
	/** For documents without an answer. */
	nothingFound: string;
	/** Follows it: the headings that come nearest, as Markdown. */
	nearest(names: string): string;
	/** Between two names. */
	separator: string;
	/** For a search that failed. */
	searchFailed: string;
	greeting: string;
	thanks: string;
	farewell: string;
	/** To the question who replies. */
	identity: string;
	/** To the wish to talk to a person. */
	human: string;
	/** To the same wish, where the server has passed it on. */
	personAsked: string;
	/** The same, where no person is there. */
	personAskedAndAbsent: string;
	/** To the e-mail address that follows. */
	emailKept: string;
	/** To an insult. */
	rude: string;
	/** To a question about one thing where the documents list others of its kind. The names are Markdown. */
	notListed(asked: string, listed: string): string;
}

/** The phrases by language (ISO 639-1). */
export const PHRASES: Record<SpokenLanguage, Phrases> = {
	en: {
		nothingFound:
			'I could not find an answer to that in the documents available to me. You could try asking in other words.',
		nearest: (names) => `The nearest topics are: ${names}.`,
		separator: ', ',
		searchFailed:
			'I cannot search the documents right now, so I cannot answer that from them. Please try again a little later.',
		greeting: 'Hello! What would you like to know?',
		thanks: "You're welcome! Is there anything else you would like to know?",
		farewell: 'Goodbye! Come back any time.',
		identity: 'I am an automatic assistant. I answer questions from the documents that I was given.',
		human:
			'I am an automatic assistant and cannot put you through myself. Ask me for a phone number or an e-mail address, and I will look it up in the documents.',
		personAsked: 'I have asked a person to join this conversation; you can keep writing here in the meantime.',
		personAskedAndAbsent:
			'I have asked a person to join this conversation, but no one is here right now; write your e-mail address here, and we will answer later.',
		emailKept: 'Thank you, we will answer to this address.',
		rude: 'I am sorry that I could not help. I am an automatic assistant; ask me something about the documents, in other words if you like.',
		notListed: (asked, listed) => `${asked} is not listed: ${listed}.`,
	},
	de: {
		nothingFound:
			'Dazu habe ich in den Dokumenten, die mir vorliegen, keine Antwort gefunden. Vielleicht hilft eine andere Formulierung.',
		nearest: (names) => `Die nächsten Themen sind: ${names}.`,
		separator: ', ',
		searchFailed:
			'Ich kann die Dokumente gerade nicht durchsuchen und daher nicht daraus antworten. Bitte versuchen Sie es etwas später noch einmal.',
		greeting: 'Hallo! Was möchten Sie wissen?',
		thanks: 'Gern geschehen! Möchten Sie noch etwas wissen?',
		farewell: 'Auf Wiedersehen! Sie können jederzeit wieder fragen.',
		identity: 'Ich bin ein automatischer Assistent und beantworte Fragen aus den Dokumenten, die mir vorliegen.',
		human:
			'Ich bin ein automatischer Assistent und kann Sie nicht selbst verbinden. Fragen Sie mich nach einer Telefonnummer oder E-Mail-Adresse, dann suche ich sie in den Dokumenten.',
		personAsked:
			'Ich habe einen Menschen gebeten, in dieses Gespräch zu kommen; Sie können hier inzwischen weiterschreiben.',
		personAskedAndAbsent:
			'Ich habe einen Menschen gebeten, in dieses Gespräch zu kommen, aber gerade ist niemand da; schreiben Sie hier Ihre E-Mail-Adresse, dann antworten wir später.',
		emailKept: 'Danke, wir antworten an diese Adresse.',
		rude: 'Es tut mir leid, dass ich nicht helfen konnte. Ich bin ein automatischer Assistent; fragen Sie mich gern etwas zu den Dokumenten, auch mit anderen Worten.',
		notListed: (asked, listed) => `${asked} ist nicht aufgeführt: ${listed}.`,
	},
	fr: {
		nothingFound:
			"Je n'ai pas trouvé de réponse à cette question dans les documents dont je dispose. Vous pouvez essayer de la formuler autrement.",
		nearest: (names) => `Les sujets les plus proches sont : ${names}.`,
		separator: ', ',
		searchFailed:
			'Je ne peux pas consulter les documents pour le moment et ne peux donc pas répondre. Veuillez réessayer un peu plus tard.',
		greeting: 'Bonjour ! Que souhaitez-vous savoir ?',
		thanks: 'Avec plaisir ! Souhaitez-vous savoir autre chose ?',
		farewell: 'Au revoir ! Revenez quand vous voulez.',
		identity: 'Je suis un assistant automatique. Je réponds aux questions à partir des documents dont je dispose.',
		human:
			'Je suis un assistant automatique et je ne peux pas vous mettre en relation. Demandez-moi un numéro de téléphone ou une adresse e-mail, et je les chercherai dans les documents.',
		personAsked:
			"J'ai demandé à une personne de rejoindre cette conversation ; vous pouvez continuer à écrire ici en attendant.",
		personAskedAndAbsent:
			"J'ai demandé à une personne de rejoindre cette conversation, mais personne n'est là pour le moment ; écrivez ici votre adresse e-mail et nous vous répondrons plus tard.",
		emailKept: 'Merci, nous vous répondrons à cette adresse.',
		rude: "Je suis désolé de ne pas avoir pu vous aider. Je suis un assistant automatique ; posez-moi une question sur les documents, avec d'autres mots si vous voulez.",
		notListed: (asked, listed) => `${asked} ne figure pas dans la liste : ${listed}.`,
	},
	es: {
		nothingFound:
			'No he encontrado una respuesta a eso en los documentos de los que dispongo. Puede intentar preguntarlo con otras palabras.',
		nearest: (names) => `Los temas más cercanos son: ${names}.`,
		separator: ', ',
		searchFailed:
			'En este momento no puedo buscar en los documentos, así que no puedo responder. Inténtelo de nuevo un poco más tarde.',
		greeting: '¡Hola! ¿Qué le gustaría saber?',
		thanks: '¡De nada! ¿Le gustaría saber algo más?',
		farewell: '¡Hasta luego! Vuelva cuando quiera.',
		identity: 'Soy un asistente automático. Respondo a preguntas a partir de los documentos de los que dispongo.',
		human:
			'Soy un asistente automático y no puedo pasarle con una persona. Pregúnteme por un número de teléfono o un correo electrónico y lo buscaré en los documentos.',
		personAsked:
			'He pedido a una persona que se una a esta conversación; mientras tanto puede seguir escribiendo aquí.',
		personAskedAndAbsent:
			'He pedido a una persona que se una a esta conversación, pero ahora no hay nadie; escriba aquí su correo electrónico y le responderemos más tarde.',
		emailKept: 'Gracias, le responderemos a esta dirección.',
		rude: 'Siento no haber podido ayudarle. Soy un asistente automático; pregúnteme algo sobre los documentos, con otras palabras si lo prefiere.',
		notListed: (asked, listed) => `${asked} no figura en la lista: ${listed}.`,
	},
	nl: {
		nothingFound:
			'Ik heb daarop geen antwoord gevonden in de documenten die ik tot mijn beschikking heb. U kunt het in andere woorden proberen.',
		nearest: (names) => `De onderwerpen die het dichtst in de buurt komen zijn: ${names}.`,
		separator: ', ',
		searchFailed:
			'Ik kan de documenten op dit moment niet doorzoeken en kan daarom niet antwoorden. Probeer het later nog eens.',
		greeting: 'Hallo! Wat wilt u weten?',
		thanks: 'Graag gedaan! Wilt u nog iets anders weten?',
		farewell: 'Tot ziens! U kunt altijd terugkomen.',
		identity:
			'Ik ben een automatische assistent. Ik beantwoord vragen uit de documenten die ik tot mijn beschikking heb.',
		human:
			'Ik ben een automatische assistent en kan u niet zelf doorverbinden. Vraag mij naar een telefoonnummer of e-mailadres, dan zoek ik het op in de documenten.',
		personAsked: 'Ik heb een medewerker gevraagd om bij dit gesprek te komen; u kunt hier intussen verder schrijven.',
		personAskedAndAbsent:
			'Ik heb een medewerker gevraagd om bij dit gesprek te komen, maar er is nu niemand; schrijf hier uw e-mailadres, dan antwoorden wij later.',
		emailKept: 'Bedankt, wij antwoorden op dit adres.',
		rude: 'Het spijt me dat ik niet kon helpen. Ik ben een automatische assistent; stel mij gerust een vraag over de documenten, eventueel in andere woorden.',
		notListed: (asked, listed) => `${asked} staat niet in de lijst: ${listed}.`,
	},
	pt: {
		nothingFound:
			'Não encontrei uma resposta para isso nos documentos de que disponho. Pode tentar perguntar com outras palavras.',
		nearest: (names) => `Os temas mais próximos são: ${names}.`,
		separator: ', ',
		searchFailed:
			'Neste momento não consigo pesquisar nos documentos, por isso não posso responder. Tente novamente um pouco mais tarde.',
		greeting: 'Olá! O que gostaria de saber?',
		thanks: 'De nada! Gostaria de saber mais alguma coisa?',
		farewell: 'Até logo! Volte quando quiser.',
		identity: 'Sou um assistente automático. Respondo a perguntas com base nos documentos de que disponho.',
		human:
			'Sou um assistente automático e não posso transferir a conversa. Pergunte-me por um número de telefone ou um e-mail, e eu procuro nos documentos.',
		personAsked: 'Pedi a uma pessoa que entre nesta conversa; entretanto pode continuar a escrever aqui.',
		personAskedAndAbsent:
			'Pedi a uma pessoa que entre nesta conversa, mas neste momento não está ninguém; escreva aqui o seu e-mail e responderemos mais tarde.',
		emailKept: 'Obrigado, responderemos para este endereço.',
		rude: 'Lamento não ter podido ajudar. Sou um assistente automático; pergunte-me algo sobre os documentos, com outras palavras se preferir.',
		notListed: (asked, listed) => `${asked} não consta da lista: ${listed}.`,
	},
	it: {
		nothingFound:
			'Non ho trovato una risposta nei documenti a mia disposizione. Può provare a chiederlo con altre parole.',
		nearest: (names) => `Gli argomenti più vicini sono: ${names}.`,
		separator: ', ',
		searchFailed: 'Al momento non posso consultare i documenti e quindi non posso rispondere. Riprovi tra poco.',
		greeting: 'Buongiorno! Che cosa desidera sapere?',
		thanks: "Prego! Desidera sapere qualcos'altro?",
		farewell: 'Arrivederci! Torni quando vuole.',
		identity: 'Sono un assistente automatico. Rispondo alle domande in base ai documenti a mia disposizione.',
		human:
			'Sono un assistente automatico e non posso passarle una persona. Mi chieda un numero di telefono o un indirizzo e-mail e lo cercherò nei documenti.',
		personAsked:
			'Ho chiesto a una persona di unirsi a questa conversazione; nel frattempo può continuare a scrivere qui.',
		personAskedAndAbsent:
			"Ho chiesto a una persona di unirsi a questa conversazione, ma al momento non c'è nessuno; scriva qui il suo indirizzo e-mail e risponderemo più tardi.",
		emailKept: 'Grazie, risponderemo a questo indirizzo.',
		rude: 'Mi dispiace di non aver potuto aiutare. Sono un assistente automatico; mi chieda qualcosa sui documenti, anche con altre parole.',
		notListed: (asked, listed) => `${asked} non è nell'elenco: ${listed}.`,
	},
	ja: {
		nothingFound:
			'申し訳ありませんが、手元の文書からはご質問への答えが見つかりませんでした。別の言葉でお尋ねいただくと見つかるかもしれません。',
		nearest: (names) => `近い項目：${names}。`,
		separator: '、',
		searchFailed: 'ただいま文書を検索できないため、お答えできません。しばらくしてからもう一度お試しください。',
		greeting: 'こんにちは！どのようなことをお知りになりたいですか？',
		thanks: 'どういたしまして！ほかに知りたいことはありますか？',
		farewell: 'またいつでもお尋ねください。',
		identity: '自動応答のアシスタントです。手元の文書をもとにご質問にお答えします。',
		human:
			'自動応答のアシスタントのため、担当者におつなぎすることはできません。電話番号やメールアドレスをお尋ねいただければ、文書からお探しします。',
		personAsked: '担当者にこの会話への参加を依頼しました。その間もこちらに続けてお書きいただけます。',
		personAskedAndAbsent:
			'担当者にこの会話への参加を依頼しましたが、ただいま不在です。メールアドレスをここにお書きいただければ、後ほどお返事します。',
		emailKept: 'ありがとうございます。このアドレスにお返事します。',
		rude: 'お役に立てず申し訳ありません。自動応答のアシスタントです。文書についてのご質問を、別の言葉でもお尋ねください。',
		notListed: (asked, listed) => `${asked}は記載がありません。記載されているのは${listed}です。`,
	},
	ar: {
		nothingFound: 'لم أجد إجابة عن ذلك في المستندات المتاحة لي. يمكنك أن تجرّب السؤال بكلمات أخرى.',
		nearest: (names) => `أقرب المواضيع: ${names}.`,
		separator: '، ',
		searchFailed: 'لا يمكنني البحث في المستندات الآن، لذلك لا يمكنني الإجابة. يُرجى المحاولة مرة أخرى بعد قليل.',
		greeting: 'مرحبًا! ماذا تودّ أن تعرف؟',
		thanks: 'على الرحب والسعة! هل تودّ معرفة شيء آخر؟',
		farewell: 'إلى اللقاء! يمكنك العودة في أي وقت.',
		identity: 'أنا مساعد آلي أجيب عن الأسئلة من المستندات المتاحة لي.',
		human: 'أنا مساعد آلي ولا يمكنني تحويلك إلى شخص. اسألني عن رقم هاتف أو بريد إلكتروني وسأبحث عنه في المستندات.',
		personAsked: 'طلبت من أحد الموظفين الانضمام إلى هذه المحادثة، ويمكنك متابعة الكتابة هنا في هذه الأثناء.',
		personAskedAndAbsent:
			'طلبت من أحد الموظفين الانضمام إلى هذه المحادثة، لكن لا يوجد أحد الآن؛ اكتب بريدك الإلكتروني هنا وسنرد عليك لاحقًا.',
		emailKept: 'شكرًا لك، سنرد على هذا العنوان.',
		rude: 'آسف لأنني لم أستطع المساعدة. أنا مساعد آلي؛ اسألني عن المستندات، وبكلمات أخرى إن شئت.',
		notListed: (asked, listed) => `${asked} غير مذكور في القائمة: ${listed}.`,
	},
};
