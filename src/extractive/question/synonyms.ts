import { analyse } from '../../text/index.ts';

/**
 * Words of companies' documents that mean nearly the same, and adjectives with the names of what they measure (`heavy`,
 * `weight`). One group per line. A word may be in several groups.
 */
const GROUPS: Record<string, string> = {
	en: `
		cost costs price prices fee fees charge charges rate tariff
		pay payment paid bill invoice settle owe
		cheap cheaper reduced reduction discount rebate concession saving
		expensive dearer higher increase
		phone telephone tel mobile call ring
		email mail write
		address street road lane located location
		opening hours open opens opened
		close closes closed closing shut
		cancel cancels cancelling canceling cancellation terminate terminate quit end ends leave
		return returns refund refunded send back reimburse reimbursed
		warranty guarantee covered cover insured insurance
		delivery deliver delivers delivered shipping ship ships shipped dispatch freight parcel transit
		buy bought purchase purchased order ordered
		start starts begin begins switch turn activate enable
		fix repair repairs mend service
		broken defective faulty damaged damage crushed
		heavy heavier heaviest weigh weighs weight
		wide wider width broad
		long longer longest length
		high higher height tall taller
		deep deeper depth
		big bigger size large larger largest biggest maximum capacity
		small smaller smallest minimum least
		quiet quieter loud louder noise noisy decibels
		fast quick speed time quicker faster fastest slow slower
		hot hotter warm warmer temperature heat heating
		old older age aged
		electricity power watts consumption
		manager manages head leads leader charge director
		teach teaches teacher instructor trainer
		contact reach speak
		employee employees staff worker workers
		holiday holidays vacation
		charity charities nonprofit
		trial try test
		delete deleted erase wiped wipe remove removed
		limit limits maximum allowed restriction
		allow allowed permit permitted may accept accepted
		forbidden prohibited banned
		change changed swap replace replacement exchange new
		clean cleaning wash dishwasher
		lost lose loses loss
		buy purchase
		kid kids child children
		car park parking
		password login sign account
		person people user users seat visitor member
		month monthly months
		year yearly annual annually years
		week weekly weeks
		day daily days
		gift voucher card
		undo roll back revert reverse
		company business firm commercial
		colour color colours colors
		upload file files
		error fault code message
		doctor physician vet`,
	de: `
		kosten kostet preis preise gebühr gebühren tarif entgelt eintritt miete
		zahlen zahlt bezahlen zahlung bezahlung nehmen annehmen
		billig billiger günstig ermäßigt ermäßigung rabatt nachlass reduziert
		telefon telefonnummer rufnummer anrufen tel
		email mail mailadresse
		adresse anschrift straße
		öffnungszeiten geöffnet offen auf öffnet
		geschlossen zu schließt
		leitet leitung leiter leiterin chef chefin badleitung
		unterrichtet kursleitung lehrer lehrerin trainer
		ansprechpartner ansprechpartnerin kontakt
		tief tiefe
		warm temperatur grad wärme
		lang länge länger dauer dauert
		breit breite
		hoch höhe
		schwer gewicht wiegt
		groß größe
		alt alter jahre mindestalter
		schnell dauer
		kind kinder sohn tochter
		rentner senioren
		ticket karte eintritt eintrittskarte tageskarte
		verlieren verliere verlust verloren
		portemonnaie geldbörse geldbörsen brieftasche
		schlüssel armband
		absagen abmelden rücktritt absage stornieren storno kündigen
		erstattet erstattung zurück geld
		krank attest krankheit
		parken parkplatz parkplätze
		verboten erlaubt gestattet zugelassen dürfen
		buchen buchung antrag reservieren reservierung
		anmelden anmeldung melde
		leute personen teilnehmer gäste besucher
		gruppe gruppen
		firma firmen gewerblich unternehmen
		defekt kaputt störung
		lieferung liefern versand versenden
		garantie gewährleistung
		woche wochen
		einheiten stunden termine
		zuschauer plätze`,
	fr: `
		coût coûte coûtent prix tarif tarifs montant
		payer paiement régler règlement
		remise réduction rabais geste moitié
		téléphone numéro appeler tél joindre
		email mail courriel écrire
		adresse rue avenue quai
		horaires heures ouvert ouverte ouvre ouverture
		fermé fermée ferme fermeture
		annuler annulation
		rembourser remboursement rembourse
		livraison livrer envoi expédition
		garantie assurance assurances
		durée dure temps
		âge ans mois
		poids pèse kg
		chat chatte chaton
		chien chienne chiot
		lapin lapine
		stérilisation stérilisée castration
		vaccin vaccins vaccination vaccinations rappel injection
		puce identification
		urgence urgences
		nuit soir
		docteur dr vétérinaire médecin
		responsable dirige directeur directrice
		héberger pension
		ordonnance médicament médicaments
		rendez-vous rdv
		disponible stock rupture
		chèque chèques
		commander commande
		gratuit offert
		mensuel mois
		annuel an année
		parler langue langues parle`,
	es: `
		cuesta precio coste tarifa
		teléfono número llamar
		correo email mail
		dirección calle
		horario abierto abre
		cerrado cierra
		garantía cobertura
		envío entrega
		devolver devolución reembolso
		cancelar cancelación`,
	nl: `
		kost kosten prijs tarief
		telefoon telefoonnummer bellen
		email mail mailadres
		adres straat
		open openingstijden
		gesloten sluit
		garantie waarborg
		verzending levering bezorging
		retour retourneren terugsturen terugbetaling
		opzeggen annuleren`,
	pt: `
		custa preço custo tarifa
		telefone número ligar
		email correio
		endereço morada rua
		horário aberto abre
		fechado fecha
		garantia cobertura
		entrega envio frete
		devolver devolução reembolso
		cancelar cancelamento`,
	it: `
		costa prezzo costo tariffa
		telefono numero chiamare
		email posta
		indirizzo via
		orari aperto apre apertura
		chiuso chiude chiusura
		garanzia copertura
		consegna spedizione
		reso restituire rimborso
		annullare disdire disdetta`,
};

const NONE: ReadonlyMap<string, ReadonlySet<string>> = new Map();
const known = new Map<string, ReadonlyMap<string, ReadonlySet<string>>>();

/** The synonyms of each analysed word of a language. */
export function synonymsIn(language: string | null): ReadonlyMap<string, ReadonlySet<string>> {
	if (language === null || !Object.hasOwn(GROUPS, language)) return NONE;
	let synonyms = known.get(language);
	if (synonyms === undefined) {
		synonyms = readGroups(GROUPS[language] as string, language);
		known.set(language, synonyms);
	}
	return synonyms;
}

/** The groups of synonyms of a language, as they are written. */
export function synonymGroups(language: string): string[][] {
	const lines = GROUPS[language]?.trim().split('\n') ?? [];
	return lines.map((line) => line.trim().split(' '));
}

function readGroups(groups: string, language: string): ReadonlyMap<string, ReadonlySet<string>> {
	const synonyms = new Map<string, Set<string>>();
	for (const line of groups.trim().split('\n')) {
		const stems = [...new Set(analyse(line, language))];
		for (const stem of stems) {
			const others = synonyms.get(stem) ?? new Set();
			for (const other of stems) if (other !== stem) others.add(other);
			synonyms.set(stem, others);
		}
	}
	return synonyms;
}
