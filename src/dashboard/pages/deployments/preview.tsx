import { useEffect, useRef, useState } from 'preact/hooks';
import { BASE_URL } from '../../api/client.ts';
import { SelectField } from '../../components/field.tsx';
import { strings } from '../../languages/index.ts';
import type { DeploymentFields } from './fields.ts';
import { previewLook } from './preview-look.ts';
import { languageOptions } from './snippet.tsx';

const READY = 'parley:preview-ready';
const SHOW = 'parley:preview-show';
const SCHEMES = ['light', 'dark'] as const;
const SCREENS = ['desktop', 'phone'] as const;

/** The real widget with the values of the form, saved or not, in a page of its own. */
export function Preview({ deploymentId, values }: { deploymentId: string; values: DeploymentFields }) {
	const t = strings().deploymentPages;
	const [scheme, setScheme] = useState<(typeof SCHEMES)[number]>('light');
	const [screen, setScreen] = useState<(typeof SCREENS)[number]>('desktop');
	const [widgetLanguage, setWidgetLanguage] = useState('');
	const frame = useRef<HTMLIFrameElement>(null);
	const message = JSON.stringify({
		type: SHOW,
		...previewLook(values),
		scheme,
		language: widgetLanguage === '' ? null : widgetLanguage,
	});
	const latest = useRef(message);
	latest.current = message;
	const show = () => frame.current?.contentWindow?.postMessage(JSON.parse(latest.current), location.origin);
	// The page in the frame says when it can take a look, also after it was loaded again.
	useEffect(() => {
		const onMessage = ({ origin, source, data }: MessageEvent) => {
			if (origin !== location.origin || source !== frame.current?.contentWindow) return;
			if (data?.type === READY) show();
		};
		addEventListener('message', onMessage);
		return () => removeEventListener('message', onMessage);
	}, []);
	useEffect(show, [message]);
	return (
		<section class="card preview" aria-label={t.preview}>
			<header>
				<h2>{t.preview}</h2>
				<Choice label={t.previewPage} value={scheme} options={SCHEMES} onChange={setScheme} />
				<Choice label={t.previewScreen} value={screen} options={SCREENS} onChange={setScreen} />
			</header>
			<div class={`preview-screen preview-${screen} preview-${scheme}`}>
				<iframe
					ref={frame}
					title={t.previewFrame}
					src={`${BASE_URL}dashboard/preview?deployment_id=${encodeURIComponent(deploymentId)}`}
				/>
			</div>
			<p class="hint">{t.previewHint}</p>
			<SelectField
				label={t.widgetLanguage}
				value={widgetLanguage}
				options={languageOptions(t.yourLanguage)}
				onChange={setWidgetLanguage}
			/>
		</section>
	);
}

/** Buttons, one of which is pressed. */
function Choice<V extends 'light' | 'dark' | 'desktop' | 'phone'>({
	label,
	value,
	options,
	onChange,
}: {
	label: string;
	value: V;
	options: readonly V[];
	onChange: (value: V) => void;
}) {
	const t = strings().deploymentPages;
	return (
		<fieldset class="segments">
			<legend class="visually-hidden">{label}</legend>
			{options.map((option) => (
				<button key={option} type="button" aria-pressed={option === value} onClick={() => onChange(option)}>
					{t[`preview_${option}`]}
				</button>
			))}
		</fieldset>
	);
}
