// <account-preferences>: how the pages look on this device. Nothing of it is sent.
import { html, nothing, type TemplateResult } from 'lit'
import {
  displayTheme,
  keepTheme,
  keptTheme,
  onThemeChange,
  type Theme,
  themes,
} from '../../look/preferences.ts'
import { AccountSection, states } from '../account-section.ts'

export class PreferencesSection extends AccountSection {
  static override properties = states('theme', 'isKept')
  declare theme: Theme
  /** False if the browser refused to keep the last choice. */
  declare isKept: boolean

  constructor() {
    super()
    this.theme = keptTheme()
    this.isKept = true
    onThemeChange((theme) => (this.theme = theme))
  }

  #chooseTheme(theme: Theme): void {
    this.theme = theme
    displayTheme(theme)
    this.isKept = keepTheme(theme)
  }

  protected override render(): TemplateResult {
    const { preferences } = this.texts
    const choice = (theme: Theme) =>
      html`<label class="choice"><input type="radio" name="theme" value=${theme} .checked=${theme === this.theme} @change=${() => this.#chooseTheme(theme)}>
${preferences.themes[theme]}</label>`
    return html`<p class="hint">${preferences.hint}</p>
<fieldset><legend>${preferences.theme}</legend>
${themes.map(choice)}
</fieldset>
<p class="fault" role="alert">${this.isKept ? nothing : preferences.notKept}</p>`
  }
}
