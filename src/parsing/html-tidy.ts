import { toSingleLine } from './blocks.ts';
import { type DomDocument, type DomElement, isElement } from './html-dom.ts';
import { isHidden, isWithoutSpace, linkShareOf } from './html-visibility.ts';

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

/** The class of an accordion counts for so many levels of elements in it: for its items, their panels and the content of those. */
const COLLAPSIBLE_LEVELS = 4;

/** An element, and what is known of the elements around it. */
interface VisitedElement {
	element: DomElement;
	/** In the part that the author marked as content. */
	inContent: boolean;
	/** In a heading, a term or another element that opens a part. */
	inHeading: boolean;
	/** The levels for which the class or role of an element around it says that it is collapsible. */
	collapsibleLevels: number;
	/** An element around it was examined for its text already, so that each text is read once. */
	isExamined: boolean;
}

/**
 * Prepares a page for reading: shows the collapsed parts of its content (accordions, tabs), keeps notes and headings that are
 * buttons, and removes cookie banners, breadcrumbs, menus and edit links.
 */
export function tidyPage(document: DomDocument): void {
	const page = new PageTidier(document);
	const stack: VisitedElement[] = [
		{ element: document.body, inContent: false, inHeading: false, collapsibleLevels: 0, isExamined: false },
	];
	for (let visited = stack.pop(); visited !== undefined; visited = stack.pop()) {
		const inner = page.visit(visited);
		if (inner === null) continue;
		for (const child of [...inner.element.children].reverse()) stack.push({ ...inner, element: child });
	}
}

class PageTidier {
	readonly #document: DomDocument;
	readonly #controls: Controls;
	/** The elements that contain the title or the content, a heading, or a control that opens a part, at any depth. */
	readonly #withTitle: Set<DomElement>;
	readonly #withHeading: Set<DomElement>;
	readonly #withExpander: Set<DomElement>;

	constructor(document: DomDocument) {
		this.#document = document;
		this.#controls = controlsOf(document);
		this.#withTitle = elementsAround(document, 'h1,main,article');
		this.#withHeading = elementsAround(document, 'h1,h2,h3,h4,h5,h6');
		this.#withExpander = elementsAround(document, '[aria-expanded]');
	}

	/** Tidies one element; returns it, or the element in its place, for the visit of its children. Null: they need none. */
	visit(visited: VisitedElement): VisitedElement | null {
		const { element } = visited;
		const { isUnwanted, hasReadText } = this.#examine(visited);
		if (isUnwanted) {
			element.remove();
			return null;
		}
		const name = element.nodeName;
		const inner: VisitedElement = {
			element,
			inContent: visited.inContent || name === 'MAIN' || name === 'ARTICLE' || roleOf(element) === 'main',
			inHeading: visited.inHeading || /^(?:H[1-6]|DT|SUMMARY|TH)$/.test(name),
			collapsibleLevels: Math.max(visited.collapsibleLevels - 1, isCollapsible(element) ? COLLAPSIBLE_LEVELS : 0),
			isExamined: visited.isExamined || hasReadText || isNote(element),
		};
		if (isHidden(element)) {
			const { isShown, hasReadText } = this.#examineHidden(visited);
			if (!isShown && !keepsPlace(element)) return null;
			for (const attribute of ['hidden', 'aria-hidden', 'style']) element.removeAttribute(attribute);
			if (!isShown) {
				for (const child of [...element.childNodes]) child.remove();
				return null;
			}
			inner.collapsibleLevels = COLLAPSIBLE_LEVELS;
			inner.isExamined ||= hasReadText;
		}
		if (name === 'BUTTON') {
			this.#keepButton(visited);
			return null;
		}
		if (roleOf(element) === 'tabpanel') this.#labelPanel(element);
		return { ...inner, element: this.#keepNote(visited) };
	}

	/**
	 * Whether an element is around the content or leads to it. `hasReadText`: its text was read to decide, so the elements in it are not
	 * examined again.
	 */
	#examine({ element, inContent, isExamined }: VisitedElement): { isUnwanted: boolean; hasReadText: boolean } {
		const decided = (isUnwanted: boolean) => ({ isUnwanted, hasReadText: false });
		const readText = (isUnwanted: boolean) => ({ isUnwanted, hasReadText: true });
		if (/^(?:MAIN|ARTICLE|BODY)$/.test(element.nodeName)) return decided(false);
		// Ruby annotations (rt, rp) would split the words.
		if (element.nodeName === 'RT' || element.nodeName === 'RP') return decided(true);
		const name = nameOf(element);
		if (EDIT_LINK.test(name)) return decided(true);
		if (isExamined) return decided(false);
		const label = `${name} ${element.getAttribute('aria-label') ?? ''}`;
		if (BREADCRUMBS.test(label)) return readText(lengthOf(element) <= MAX_BREADCRUMB_CHARACTERS);
		if (!inContent && COOKIE_BANNER.test(label) && !this.#withTitle.has(element)) {
			const isBanner =
				element.querySelector('button,input,[role=button]') !== null || OVERLAY_ROLE.test(roleOf(element));
			return readText(isBanner && lengthOf(element) <= MAX_BANNER_CHARACTERS);
		}
		if (MENU.test(name) && /^(?:UL|OL|DIV|SECTION)$/.test(element.nodeName))
			return readText(linkShareOf(element) >= 0.8);
		return decided(false);
	}

	/** Whether a hidden element is a part of the content that a visitor opens. */
	#examineHidden({ element, collapsibleLevels, isExamined }: VisitedElement): {
		isShown: boolean;
		hasReadText: boolean;
	} {
		const decided = (isShown: boolean) => ({ isShown, hasReadText: false });
		if (OVERLAY.test(nameOf(element)) || OVERLAY_ROLE.test(roleOf(element)) || element.nodeName === 'NAV')
			return decided(false);
		const isOnlyAria = element.getAttribute('aria-hidden') === 'true' && !element.hasAttribute('hidden');
		if (isOnlyAria && INLINE_ELEMENTS.has(element.nodeName)) return decided(false);
		if (element.getAttribute('hidden') === 'until-found' || collapsibleLevels > 0 || isCollapsible(element))
			return decided(true);
		if (roleOf(element) === 'tabpanel') return decided(true);
		const isControlled = this.#controls.ids.has(element.getAttribute('id') ?? '') || this.#isAfterExpander(element);
		if (!isControlled || isExamined) return decided(isControlled);
		return { isShown: linkShareOf(element) < 0.7, hasReadText: true };
	}

	/** Whether the element before it opens it. */
	#isAfterExpander(element: DomElement): boolean {
		const before = element.previousElementSibling;
		return before !== null && (before.hasAttribute('aria-expanded') || this.#withExpander.has(before));
	}

	/** Keeps the text of a button that is a heading or opens a part of the content. */
	#keepButton({ element, inContent, inHeading }: VisitedElement): void {
		const opens = element.hasAttribute('aria-expanded') && element.nextElementSibling !== null;
		if (inHeading) this.#rename(element, 'span');
		else if (opens && inContent && roleOf(element) !== 'tab') this.#rename(element, 'p');
	}

	/** Writes the text of its tab before the content of a panel. */
	#labelPanel(panel: DomElement): void {
		const own = this.#controls.tabs.get(panel.getAttribute('id') ?? '');
		const label = own ?? this.#controls.tabs.get(panel.getAttribute('aria-labelledby') ?? '');
		if (label === undefined || this.#withHeading.has(panel)) return;
		const line = this.#document.createElement('p');
		line.append(label.endsWith(':') ? label : `${label}:`);
		panel.prepend(line);
	}

	/** Makes a note to the content a part of it. */
	#keepNote({ element, inContent, isExamined }: VisitedElement): DomElement {
		if (!isNote(element) || !inContent || isExamined) return element;
		if (SIDEBAR.test(nameOf(element)) || lengthOf(element) > MAX_NOTE_CHARACTERS || linkShareOf(element) >= 0.5) {
			return element;
		}
		if (element.nodeName === 'ASIDE') return this.#rename(element, 'div');
		element.removeAttribute('role');
		return element;
	}

	#rename(element: DomElement, name: string): DomElement {
		const renamed = this.#document.createElement(name);
		for (const child of [...element.childNodes]) renamed.append(child);
		// It still opens what follows it.
		const expanded = element.getAttribute('aria-expanded');
		if (expanded !== null) renamed.setAttribute('aria-expanded', expanded);
		for (const elements of [this.#withHeading, this.#withExpander]) if (elements.has(element)) elements.add(renamed);
		element.replaceWith(renamed);
		return renamed;
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
	const withTab = elementsAround(document, '[role=tab]');
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
		if (control.getAttribute('role') !== 'tab' || withTab.has(control)) continue;
		const label = toSingleLine(control.textContent ?? '');
		if (label === '' || label.length > 80) continue;
		if (id !== '') tabs.set(id, label);
		const own = control.getAttribute('id');
		if (own !== null) tabs.set(own, label);
	}
	return { ids, tabs };
}

/** The elements that contain an element of a selector. Each is passed once, so the time is linear. */
function elementsAround(document: DomDocument, selector: string): Set<DomElement> {
	const around = new Set<DomElement>();
	for (const element of document.querySelectorAll(selector)) {
		for (
			let outer = element.parentNode;
			outer !== null && isElement(outer) && !around.has(outer);
			outer = outer.parentNode
		)
			around.add(outer);
	}
	return around;
}

function nameOf(element: DomElement): string {
	return `${element.getAttribute('class') ?? ''} ${element.getAttribute('id') ?? ''}`;
}

/** Whether an element says that a visitor opens it or parts of it. The class of a whole page says nothing of its parts. */
function isCollapsible(element: DomElement): boolean {
	if (element.nodeName === 'DETAILS') return true;
	return !/^(?:BODY|MAIN|ARTICLE)$/.test(element.nodeName) && COLLAPSIBLE.test(nameOf(element));
}

/** Whether a hidden element is read as an empty one: a cell, which takes its column, and a term or description, which ends others. */
function keepsPlace(element: DomElement): boolean {
	return /^D[TD]$/.test(element.nodeName) || (/^T[HD]$/.test(element.nodeName) && !isWithoutSpace(element));
}

function isNote(element: DomElement): boolean {
	return element.nodeName === 'ASIDE' || /^(?:complementary|alert)$/.test(roleOf(element));
}

function roleOf(element: DomElement): string {
	return element.getAttribute('role')?.toLowerCase() ?? '';
}

function lengthOf(element: DomElement): number {
	return (element.textContent ?? '').replace(/\s+/g, ' ').length;
}
