import type { WidgetConfig } from '../../contract/index.ts';
import type { Strings } from '../languages/strings.ts';
import { IconButton } from './icons.tsx';
import { Link } from './rich-text.tsx';
import type { Session } from './session.ts';
import type { DisplayedMessage } from './transcript.ts';
import { type Child, h, type VirtualNode } from './virtual-dom.ts';

export interface HeaderProps {
	session: Session | null;
	config: WidgetConfig | null;
	strings: Strings;
	title: string;
	/** Whether the title is a name that the website has set. Then its initial is shown. */
	isNamed_: boolean;
	messages: readonly DisplayedMessage[];
	menuOpen_: boolean;
	/** Null: the logo is loading. False: it failed, or the page's policy refuses it. */
	hasLogo_: boolean | null;
	onLogo_(isLoaded: boolean): void;
	onMenu_(): void;
	onRestart_(): void;
	/** Whether the visitor may ask for a person. */
	mayTalk_: boolean;
	onTalk_(): void;
	/** The visitor downloads the conversation. */
	onTranscript_(): void;
	onClose(): void;
}

/** The assistant's name and status, a menu, and the close button. */
export function Header(props: HeaderProps): VirtualNode {
	const { strings, title, messages, config, menuOpen_, mayTalk_, onMenu_, onRestart_, onTranscript_, onClose } = props;
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
			{(messages.length > 0 || privacy || mayTalk_) && (
				<IconButton shape="menu" label={strings.menu} expanded={menuOpen_} onClick={onMenu_} />
			)}
			{menuOpen_ && (
				<div class="menu">
					{mayTalk_ && (
						<button type="button" onClick={props.onTalk_}>
							{strings.talk}
						</button>
					)}
					{messages.length > 0 && (
						<button type="button" onClick={onRestart_}>
							{strings.restart}
						</button>
					)}
					{messages.length > 0 && (
						<button type="button" onClick={onTranscript_}>
							{strings.download}
						</button>
					)}
					{privacy && <Link href={privacy}>{strings.privacy}</Link>}
				</div>
			)}
			<IconButton shape="close" label={strings.minimise} onClick={onClose} />
		</div>
	);
}

/** The status line: the person who answers and has not left, or the AI disclosure and the status text. */
function statusOf({ config, strings, messages, session }: HeaderProps): string {
	if (!config) return '';
	const last = messages.findLast(({ role }) => role === 'assistant');
	if (last?.author.type === 'human' && session?.people_()?.person)
		return strings.replying.replace('{name}', () => last.author.name ?? strings.person);
	const { disclosure_text, status_text } = config.appearance;
	const disclosure = config.features.ai_disclosure === false ? '' : disclosure_text?.trim() || strings.disclosure;
	return [disclosure, status_text].filter(Boolean).join(' · ');
}

/** The logo, or the initial of the name while the logo loads and where it fails. */
function avatar({ config, title, isNamed_, hasLogo_, onLogo_ }: HeaderProps): Child {
	const logo = hasLogo_ !== false && config?.appearance.logo_url;
	return [
		logo && (
			<img
				class={hasLogo_ ? 'avatar' : null}
				hidden={!hasLogo_}
				alt=""
				onLoad={() => onLogo_(true)}
				onError={() => onLogo_(false)}
				// Set before `src`, so that it applies to the first request.
				referrerpolicy="no-referrer"
				src={logo}
			/>
		),
		!hasLogo_ && (isNamed_ || logo) && avatarInitial(isNamed_ ? title : ''),
	];
}

/** The first character of a name, in a circle. */
export function avatarInitial(name: string): VirtualNode {
	return (
		<span class="avatar" aria-hidden="true">
			{[...name.trim()][0]?.toUpperCase()}
		</span>
	);
}
