/// An answer of the front end before Google's APIs, which is HTML.
package enum FrontEndPage {
    /// The value of `content-type`.
    package static let contentType = "text/html; charset=UTF-8"

    /// Returns the page for a status; the path is only shown for 404.
    package static func html(_ status: Int, path: String = "/") -> String {
        let title =
            switch status {
            case 404: "Not Found"
            case 405: "Method Not Allowed"
            case 500...: "Server Error"
            default: "Client Error"
            }
        let text =
            switch status {
            case 404: "The requested URL <code>\(path)</code> was not found on this server."
            case 500...:
                "The server encountered a temporary error and could not complete your request.<p>Please try again in 30 seconds."
            default: "Your client has issued a malformed or illegal request."
            }
        return """
            <!DOCTYPE html>
            <html lang=en>
              <meta charset=utf-8>
              <meta name=viewport content="initial-scale=1, minimum-scale=1, width=device-width">
              <title>Error \(status) (\(title))!!1</title>
              <a href=//www.google.com/><span id=logo aria-label=Google></span></a>
              <p><b>\(status).</b> <ins>That’s an error.</ins>
              <p>\(text)  <ins>That’s all we know.</ins>

            """
    }
}
