// The account page: name, language, password and preferences, and the dialog that confirms a sign-in.
import type { Plurals } from '../plurals.ts'

export type Texts = typeof texts

export const texts = (plurals: Plurals) => ({
  /** The name of the navigation between the parts of the page. */
  sections: 'Parts of this page',
  passwordDemanded: 'Someone else signed in to your account, so they may know your password.',
  passwordLink: 'Choose a new password',
  profile: {
    title: 'Name and language',
    username: 'Username',
    email: 'E-mail address',
    verified: 'verified',
    notVerified: 'not verified',
    name: 'Display name',
    nameHint: 'Others see this name. Without one they see your username.',
    save: 'Save',
    nameSaved: 'Your name is saved.',
    nameRefused: 'Write at most 200 characters, without line breaks or other control characters.',
    language: 'Language',
    languageHint: 'For these pages, on all your devices.',
    asTheBrowser: 'As my browser prefers',
    languageSaved: 'The language is saved.',
  },
  password: {
    title: 'Password',
    none: 'You have no password here: you sign in with an account elsewhere.',
    current: 'Current password',
    next: 'New password',
    rules: plurals({
      one: 'At least # character. Several words are easy to remember.',
      other: 'At least # characters. Several words are easy to remember.',
    }),
    show: 'Show passwords',
    change: 'Change the password',
    effect: 'You will stay signed in here, and be signed out everywhere else.',
    wrong: 'This is not your current password.',
    missing: 'Write your current password first.',
    changed: 'Your password is changed. Every other device is signed out.',
  },
  preferences: {
    title: 'Preferences',
    hint: 'These apply to this browser on this device.',
    theme: 'Appearance',
    themes: { auto: 'Same as this device', light: 'Light', dark: 'Dark' },
    notKept:
      'Your browser keeps nothing for this site, so this lasts only until you leave the page. Allow cookies and site data to change that.',
  },
  confirm: {
    title: 'Confirm that it is you',
    text: 'You signed in more than ten minutes ago, and this change concerns how you sign in.',
    submit: 'Confirm',
    cancel: 'Cancel',
    labels: { password: 'Password', code: 'Code from your authenticator app', recoveryCode: 'Recovery code' },
    ways: {
      password: 'Use the password',
      passkey: 'Use a passkey',
      code: 'Use the authenticator app',
      recoveryCode: 'Use a recovery code',
    },
    faults: {
      password: 'This is not your password.',
      passkey: 'The passkey was not used: cancelled, too late, or not one of yours.',
      code: 'This code is wrong or was used already. Wait for the next one.',
      recoveryCode: 'This recovery code is wrong or was used already.',
    },
    otherwise: 'If none of this is possible, sign out, sign in again and make the change within ten minutes.',
  },
})
