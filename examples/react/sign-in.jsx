// The sign-in of Carillon. Its session is in a cookie that scripts cannot read; the inbox opens as soon as `login` succeeds.
import { useState } from 'react'

export function SignIn({ carillon }) {
  const [problem, setProblem] = useState('')
  const signIn = (form) =>
    carillon.login({ ...Object.fromEntries(form), variant: 'stateful' }).catch(({ message }) => setProblem(message))
  return (
    <form action={signIn}>
      <label>
        Name <input name="username" autoComplete="username" required />
      </label>
      <label>
        Password <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <button type="submit">Sign in</button>
      <p role="alert">{problem}</p>
    </form>
  )
}
