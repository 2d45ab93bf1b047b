import type { Language } from '../languages/choose.ts';

/** The texts of the bar. `{name}` is replaced by a name or an e-mail address. */
export interface PersonTexts {
	here: string;
	away: string;
	email: string;
	save: string;
	invalid: string;
	saved: string;
	/** Where the address is stored but not known to this page. */
	savedBefore: string;
	change: string;
	withdraw: string;
	withdrawn: string;
	joined: string;
	typing: string;
}

/** The texts in each language of the widget. They are here because the chat's first load has no room for them. */
export const TEXTS: Record<Language, PersonTexts> = {
	en: {
		here: 'A person will answer here soon.',
		away: 'No one is here right now.',
		email: 'Get the answer by e-mail, too',
		save: 'Save',
		invalid: 'Please check the e-mail address.',
		saved: 'We will also answer to {name}.',
		savedBefore: 'We will also answer by e-mail.',
		change: 'Change',
		withdraw: 'Cancel request',
		withdrawn: 'Your request is cancelled.',
		joined: 'A person has joined the conversation.',
		typing: '{name} is typing …',
	},
	de: {
		here: 'Ein Mensch antwortet hier in Kürze.',
		away: 'Im Moment ist niemand da.',
		email: 'Antwort auch per E-Mail erhalten',
		save: 'Speichern',
		invalid: 'Bitte prüfen Sie die E-Mail-Adresse.',
		saved: 'Wir antworten auch an {name}.',
		savedBefore: 'Wir antworten auch per E-Mail.',
		change: 'Ändern',
		withdraw: 'Anfrage zurückziehen',
		withdrawn: 'Ihre Anfrage ist zurückgezogen.',
		joined: 'Ein Mensch ist der Unterhaltung beigetreten.',
		typing: '{name} schreibt …',
	},
	fr: {
		here: 'Une personne vous répondra ici bientôt.',
		away: 'Il n’y a personne pour le moment.',
		email: 'Recevoir aussi la réponse par e-mail',
		save: 'Enregistrer',
		invalid: 'Veuillez vérifier l’adresse e-mail.',
		saved: 'Nous répondrons aussi à {name}.',
		savedBefore: 'Nous répondrons aussi par e-mail.',
		change: 'Modifier',
		withdraw: 'Annuler la demande',
		withdrawn: 'Votre demande est annulée.',
		joined: 'Une personne a rejoint la conversation.',
		typing: '{name} écrit …',
	},
	es: {
		here: 'Una persona responderá aquí pronto.',
		away: 'Ahora no hay nadie disponible.',
		email: 'Recibir la respuesta también por correo',
		save: 'Guardar',
		invalid: 'Compruebe la dirección de correo.',
		saved: 'También responderemos a {name}.',
		savedBefore: 'También responderemos por correo.',
		change: 'Cambiar',
		withdraw: 'Cancelar la solicitud',
		withdrawn: 'Su solicitud está cancelada.',
		joined: 'Una persona se ha unido a la conversación.',
		typing: '{name} está escribiendo …',
	},
	nl: {
		here: 'Een medewerker antwoordt hier binnenkort.',
		away: 'Er is nu niemand aanwezig.',
		email: 'Ontvang het antwoord ook per e-mail',
		save: 'Opslaan',
		invalid: 'Controleer het e-mailadres.',
		saved: 'We antwoorden ook naar {name}.',
		savedBefore: 'We antwoorden ook per e-mail.',
		change: 'Wijzigen',
		withdraw: 'Verzoek intrekken',
		withdrawn: 'Uw verzoek is ingetrokken.',
		joined: 'Een medewerker neemt nu deel aan het gesprek.',
		typing: '{name} is aan het typen …',
	},
	pt: {
		here: 'Uma pessoa responderá aqui em breve.',
		away: 'Não há ninguém disponível agora.',
		email: 'Receber a resposta também por e-mail',
		save: 'Guardar',
		invalid: 'Verifique o endereço de e-mail.',
		saved: 'Também responderemos para {name}.',
		savedBefore: 'Também responderemos por e-mail.',
		change: 'Alterar',
		withdraw: 'Cancelar o pedido',
		withdrawn: 'O seu pedido foi cancelado.',
		joined: 'Uma pessoa entrou na conversa.',
		typing: '{name} está a escrever …',
	},
	ja: {
		here: 'まもなく担当者がここで回答します。',
		away: '現在、担当者は不在です。',
		email: '回答をメールでも受け取る',
		save: '保存',
		invalid: 'メールアドレスをご確認ください。',
		saved: '{name} にも回答をお送りします。',
		savedBefore: 'メールでも回答をお送りします。',
		change: '変更',
		withdraw: '依頼を取り消す',
		withdrawn: '依頼を取り消しました。',
		joined: '担当者が会話に参加しました。',
		typing: '{name} さんが入力中です…',
	},
	ar: {
		here: 'سيجيبك شخص هنا قريبًا.',
		away: 'لا يوجد أحد هنا الآن.',
		email: 'استلام الرد بالبريد الإلكتروني أيضًا',
		save: 'حفظ',
		invalid: 'يرجى التحقق من عنوان البريد الإلكتروني.',
		saved: 'سنرد أيضًا على {name}.',
		savedBefore: 'سنرد أيضًا بالبريد الإلكتروني.',
		change: 'تغيير',
		withdraw: 'إلغاء الطلب',
		withdrawn: 'تم إلغاء طلبك.',
		joined: 'انضم شخص إلى المحادثة.',
		typing: '{name} يكتب …',
	},
};
