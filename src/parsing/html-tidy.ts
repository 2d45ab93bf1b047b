import { toSingleLine } from './blocks.ts';
import type { DomDocument, DomElement } from './html-dom.ts';
import { isHidden, linkShareOf } from './html-visibility.ts';

/** The class or id of a part that a visitor opens. */
const COLLAPSIBLE = /accordion|collaps|tab-?(?:pane|panel|content)|faq|expand|disclosure|spoiler/i;
/** The class or id of a part that covers the page or leads to others. */
const OVERLAY =
	/modal|dialog|popup|popover|tooltip|drop-?down|menu|nav|off-?canvas|drawer|lightbox|search|cookie|consent/i;
const OVERLAY_ROLE = /^(?:dialog|alertdialog|menu|menubar|navigation|search|tooltip)$/i;
const COOKIE_BANNER = /cookie|consent|gdpr|onetrust/i;
const BREADCRUMBS = /breadcrumb/i;
const MENU = /(?:^|[-_\s])(?:nav|navbar|navigation|menu|topnav|sidenav|skip-?links?)(?:$|[-_\s])/i;
/** The class or id of an aside that is not a note to the text. */
const SIDEBAR = /sidebar|related|newsletter|share|social|promo|advert|banner|toc|subscribe|sign-?up|widget/i;
/** Links of MediaWiki beside a heading. */
const EDIT_LINK = /editsection/i;

const MAX_BANNER_CHARACTERS = 2000;
const MAX_BREADCRUMB_CHARACTERS = 400;
const MAX_NOTE_CHARACTERS = 3000;
/** Elements that are hidden from screen readers because they are ornaments. */
const INLINE_ELEMENTS = new Set('SPAN I B EM STRONG A BUTTON SVG IMG SMALL SUP SUB LABEL'.split(' '));

/** Where an element stands. */
interface Place {
	element: DomElement;
	/** In the part that the author marked as content. */
	inContent: boolean;
	/** In a heading, a term or another element that opens a part. */
	inHeading: boolean;
	/** In an element whose class or role says that it is collapsible. */
	inCollapsible: boolean;
	/** An element around it was examined for its text already, so that each text is read once. */
	isExamined: boolean;
}

/**
 * Prepares a page for reading: shows the collapsed parts of its content (accordions, tabs), keeps notes and headings that are
 * buttons, and removes cookie banners, breadcrumbs, menus and edit links.
 */
export function tidyPage(document: DomDocument): void {
	const controls = controlsOf(document);
	const stack: Place[] = [
		{ element: document.body, inContent: false, inHeading: false, inCollapsible: false, isExamined: false },
	];
	for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
		const { element } = place;
		const verdict = isUnwanted(place);
		if (verdict === 'unwanted') {
			element.remove();
			continue;
		}
		const name = element.nodeName;
		const wasHidden = isHidden(element);
		const inner = {
			inContent: place.inContent || name === 'MAIN' || name === 'ARTICLE' || element.getAttribute('role') === 'main',
			inHeading: place.inHeading || /^(?:H[1-6]|DT|SUMMARY|TH)$/.test(name),
			inCollapsible: place.inCollapsible || wasHidden || name === 'DETAILS' || COLLAPSIBLE.test(nameOf(element)),
			isExamined: place.isExamined || verdict === 'examined' || isNote(element),
		};
		const kept = keep(document, place, controls);
		if (kept === null) continue;
		for (const child of [...kept.children].reverse()) stack.push({ ...inner, element: child });
	}
}

/** What opens the collapsed parts of a page. */
interface Controls {
	/** The ids of the parts. */
	ids: Set<string>;
	/** The texts of tabs by their own id and by the id of their panel. */
	tabs: Map<string, string>;
}

function controlsOf(document: DomDocument): Controls {
	const ids = new Set<string>();
	const tabs = new Map<string, string>();
	const selector = '[aria-controls],[data-target],[data-bs-target],[data-toggle],[data-bs-toggle],[role=tab]';
	for (const control of document.querySelectorAll(selector)) {
		const target =
			control.getAttribute('aria-controls') ??
			control.getAttribute('data-bs-target') ??
			control.getAttribute('data-target') ??
			control.getAttribute('href') ??
			'';
		const id = target.replace(/^#/, '').trim();
		if (id !== '') ids.add(id);
		if (control.getAttribute('role') !== 'tab') continue;
		const label = toSingleLine(control.textContent ?? '');
		if (label === '' || label.length > 80) continue;
		if (id !== '') tabs.set(id, label);
		const own = control.getAttribute('id');
		if (own !== null) tabs.set(own, label);
	}
	return { ids, tabs };
}

function nameOf(element: DomElement): string {
	return `${element.getAttribute('class') ?? ''} ${element.getAttribute('id') ?? ''}`;
}

/** `examined` if its text was read to decide; then the parts of it are not examined again. */
function isUnwanted({ element, inContent, isExamined }: Place): 'unwanted' | 'examined' | null {
	if (/^(?:MAIN|ARTICLE|BODY)$/.test(element.nodeName)) return null;
	const name = nameOf(element);
	if (EDIT_LINK.test(name)) return 'unwanted';
	if (isExamined) return null;
	const label = `${name} ${element.getAttribute('aria-label') ?? ''}`;
	if (BREADCRUMBS.test(label)) {
		return lengthOf(element) <= MAX_BREADCRUMB_CHARACTERS ? 'unwanted' : 'examined';
	}
	if (!inContent && COOKIE_BANNER.test(label) && element.querySelector('h1,main,article') === null) {
		const isBanner = element.querySelector('button,input,[role=button]') !== null || OVERLAY_ROLE.test(roleOf(element));
		return isBanner && lengthOf(element) <= MAX_BANNER_CHARACTERS ? 'unwanted' : 'examined';
	}
	if (MENU.test(name) && /^(?:UL|OL|DIV|SECTION)$/.test(element.nodeName)) {
		return linkShareOf(element) >= 0.8 ? 'unwanted' : 'examined';
	}
	return null;
}

/** Shows an element that belongs to the content; null if it is gone or its parts need no look. */
function keep(document: DomDocument, place: Place, controls: Controls): DomElement | null {
	const { element, inContent } = place;
	if (isHidden(element)) {
		if (!isCollapsed(place, controls)) return null;
		for (const attribute of ['hidden', 'aria-hidden', 'style']) element.removeAttribute(attribute);
	}
	if (element.nodeName === 'BUTTON') return keepButton(document, place);
	const role = roleOf(element);
	if (role === 'tabpanel') labelPanel(document, element, controls);
	if (!isNote(element) || !inContent || place.isExamined) return element;
	if (SIDEBAR.test(nameOf(element)) || lengthOf(element) > MAX_NOTE_CHARACTERS || linkShareOf(element) >= 0.5) {
		return element;
	}
	if (element.nodeName !== 'ASIDE') {
		element.removeAttribute('role');
		return element;
	}
	return rename(document, element, 'div');
}

function isNote(element: DomElement): boolean {
	return element.nodeName === 'ASIDE' || /^(?:complementary|alert)$/.test(roleOf(element));
}

function isCollapsed({ element, inCollapsible }: Place, controls: Controls): boolean {
	if (OVERLAY.test(nameOf(element)) || OVERLAY_ROLE.test(roleOf(element)) || element.nodeName === 'NAV') return false;
	const isOnlyAria = element.getAttribute('aria-hidden') === 'true' && !element.hasAttribute('hidden');
	if (isOnlyAria && INLINE_ELEMENTS.has(element.nodeName)) return false;
	if (element.getAttribute('hidden') === 'until-found' || inCollapsible || COLLAPSIBLE.test(nameOf(element)))
		return true;
	if (roleOf(element) === 'tabpanel') return true;
	const isControlled = controls.ids.has(element.getAttribute('id') ?? '') || isAfterControl(element);
	return isControlled && linkShareOf(element) < 0.7;
}

/** Whether the element before it opens it. */
function isAfterControl(element: DomElement): boolean {
	const before = element.previousElementSibling;
	if (before === null) return false;
	return before.hasAttribute('aria-expanded') || before.querySelector('[aria-expanded]') !== null;
}

/** Keeps the text of a button that is a heading or opens a part of the content. */
function keepButton(document: DomDocument, { element, inContent, inHeading }: Place): null {
	const opens = element.hasAttribute('aria-expanded') && element.nextElementSibling !== null;
	if (inHeading) rename(document, element, 'span');
	else if (opens && inContent && roleOf(element) !== 'tab') rename(document, element, 'p');
	return null;
}

/** Writes the text of its tab before the content of a panel. */
function labelPanel(document: DomDocument, panel: DomElement, controls: Controls): void {
	const own = controls.tabs.get(panel.getAttribute('id') ?? '');
	const label = own ?? controls.tabs.get(panel.getAttribute('aria-labelledby') ?? '');
	if (label === undefined || panel.querySelector('h1,h2,h3,h4,h5,h6') !== null) return;
	const line = document.createElement('p');
	line.append(label.endsWith(':') ? label : `${label}:`);
	panel.prepend(line);
}

function rename(document: DomDocument, element: DomElement, name: string): DomElement {
	const renamed = document.createElement(name);
	for (const child of [...element.childNodes]) renamed.append(child);
	// It still opens what follows it.
	const expanded = element.getAttribute('aria-expanded');
	if (expanded !== null) renamed.setAttribute('aria-expanded', expanded);
	element.replaceWith(renamed);
	return renamed;
}

function roleOf(element: DomElement): string {
	return element.getAttribute('role')?.toLowerCase() ?? '';
}

function lengthOf(element: DomElement): number {
	return (element.textContent ?? '').replace(/\s+/g, ' ').length;
}
