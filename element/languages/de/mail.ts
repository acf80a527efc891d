import type { Texts } from '../en/mail.ts'

export const texts: Texts = () => ({
  reset: ({ username, until, service }) => ({
    subject: `Ein neues Passwort bei ${service}`,
    before: [
      `Bei ${service} wurde ein neues Passwort angefordert für das Konto`,
      username,
      `Um es zu wählen, öffnen Sie diesen Link. Er gilt einmal, bis ${until}:`,
    ],
    link: 'Neues Passwort wählen',
    after: ['Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Ihr Passwort bleibt, wie es ist.'],
  }),
  changes: ({ count, title, lines, service }) => ({
    subject: `${count === 1 ? title : `${count} Änderungen an Ihrem Konto`} (${service})`,
    before: lines,
    link: 'Ihr Konto öffnen',
    after: [],
  }),
})
