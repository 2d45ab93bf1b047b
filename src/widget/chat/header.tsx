import type { WidgetConfig } from '../../contract/index.ts';
import type { Strings } from '../languages/strings.ts';
import { type Child, type Drawing, h } from './elements.ts';
import { IconButton } from './icons.tsx';
import { Link } from './rich-text.tsx';
import type { ShownMessage } from './transcript.ts';

export interface HeaderProps {
	config: WidgetConfig | null;
	strings: Strings;
	title: string;
	/** Whether the title is a name of the website's own, which has an initial. */
	isNamed: boolean;
	messages: readonly ShownMessage[];
	menuOpen: boolean;
	/** The logo could not be loaded, or the page's policy refuses it. */
	logoFailed: boolean;
	onLogoFailed(): void;
	onMenu(): void;
	onRestart(): void;
	onClose(): void;
}

/** The name and the state of who answers, a menu, and the way out. */
export function Header(props: HeaderProps): Drawing {
	const { strings, title, messages, config, menuOpen, onMenu, onRestart, onClose } = props;
	const privacy = config?.appearance.privacy_url;
	const status = statusOf(props);
	return (
		<div class="header">
			{avatar(props)}
			<div class="heading">
				<h2 dir="auto">{title}</h2>
				<p id="status" dir="auto">
					{status}
				</p>
			</div>
			{(messages.length > 0 || privacy) && (
				<IconButton shape="menu" label={strings.menu} expanded={menuOpen} onClick={onMenu} />
			)}
			{menuOpen && (
				<div class="menu">
					{messages.length > 0 && (
						<button type="button" onClick={onRestart}>
							{strings.restart}
						</button>
					)}
					{privacy && <Link href={privacy}>{strings.privacy}</Link>}
				</div>
			)}
			<IconButton shape="close" label={strings.minimise} onClick={onClose} />
		</div>
	);
}

/** One line: who answers now, and that it is an AI unless a person does. */
function statusOf({ config, strings, messages }: HeaderProps): string {
	if (!config) return '';
	const last = [...messages].reverse().find(({ role }) => role === 'assistant');
	if (last?.author.type === 'human')
		return strings.replying.replace('{name}', () => last.author.name ?? strings.person);
	const { disclosure_text, status_text } = config.appearance;
	const disclosure = config.features.ai_disclosure === false ? '' : disclosure_text?.trim() || strings.disclosure;
	return [disclosure, status_text].filter(Boolean).join(' · ');
}

function avatar({ config, title, isNamed, logoFailed, onLogoFailed }: HeaderProps): Child {
	const logo = config?.appearance.logo_url;
	if (logo && !logoFailed) {
		// The policy comes before the address: it holds for the first request.
		return <img class="avatar" referrerpolicy="no-referrer" alt="" onError={onLogoFailed} src={logo} />;
	}
	return isNamed && initial(title);
}

/** The first character of a name, in a circle. */
export function initial(name: string): Drawing {
	return (
		<span class="avatar" aria-hidden="true">
			{[...name.trim()][0]?.toUpperCase()}
		</span>
	);
}
