// Which sections does the account page have, in which order, and how are they named? A section has an anchor, such as account#password.
import { html, type TemplateResult } from 'lit'
import type { Account } from './account-section.ts'
import { PasswordSection } from './self/password-section.ts'
import { PreferencesSection } from './self/preferences-section.ts'
import { ProfileSection } from './self/profile-section.ts'

export type Section = { id: string; title: (account: Account) => string; view: (account: Account) => TemplateResult }

export const sections: readonly Section[] = [
  {
    id: 'profile',
    title: ({ texts }) => texts.account.profile.title,
    view: (account) => html`<account-profile .account=${account}></account-profile>`,
  },
  {
    id: 'password',
    title: ({ texts }) => texts.account.password.title,
    view: (account) => html`<account-password .account=${account}></account-password>`,
  },
  {
    id: 'preferences',
    title: ({ texts }) => texts.account.preferences.title,
    view: (account) => html`<account-preferences .account=${account}></account-preferences>`,
  },
]

customElements.define('account-profile', ProfileSection)
customElements.define('account-password', PasswordSection)
customElements.define('account-preferences', PreferencesSection)
