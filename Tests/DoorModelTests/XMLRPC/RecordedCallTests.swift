import DoorModel
import Testing

/// Calls as Python 3.11's `xmlrpc.client.dumps` and Ruby 3.1's `XMLRPC::Create` wrote them.
struct RecordedCallTests {
    @Test(arguments: [
        (
            Recorded.pythonNotify,
            #"{"tokens":["740f4707"],"payload":{"aps":{"alert":"Hello <&> é \"q\"\n\t","badge":0,"sound":null},"#
                + #""g":1e+20,"b":true,"l":[1,{},[]]}}"#
        ),
        (
            Recorded.rubyNotify,
            #"{"tokens":["740f4707"],"payload":{"aps":{"alert":"h <&> é\n","badge":9},"f":1.5,"g":1.0e+20,"#
                + #""h":-5.0e-08,"t":true,"e":[],"z":{},"u":""}}"#
        ),
    ])
    func `a notification is read`(text: String, job: String) throws {
        guard case .notify(let notify) = try pyapnsCall(Array(text.utf8)) else { return #expect(Bool(false)) }
        #expect(notify.app == "cf")
        #expect(String(decoding: notify.job, as: UTF8.self) == job)
    }

    @Test(arguments: [
        (Recorded.pythonProvision, Provision.Certificate.pem("-----BEGIN CERTIFICATE-----\nMIIB\n")),
        (Recorded.rubyProvision, .path("/home/ss/cert.pem")),
    ])
    func `a certificate is read`(text: String, certificate: Provision.Certificate) throws {
        guard case .provision(let provision) = try pyapnsCall(Array(text.utf8)) else { return #expect(Bool(false)) }
        #expect(provision.app == "cf" && provision.certificate == certificate)
        #expect(provision.environment == .sandbox && provision.timeout == .seconds(15))
    }

    @Test(arguments: [Recorded.pythonFeedback, Recorded.rubyFeedback])
    func `a question for feedback is read`(text: String) throws {
        #expect(try pyapnsCall(Array(text.utf8)) == .feedback(app: "cf"))
    }
}

private enum Recorded {
    static let pythonNotify = """
        <?xml version='1.0'?>
        <methodCall>
        <methodName>notify</methodName>
        <params>
        <param>
        <value><string>cf</string></value>
        </param>
        <param>
        <value><string>740f 4707</string></value>
        </param>
        <param>
        <value><struct>
        <member>
        <name>aps</name>
        <value><struct>
        <member>
        <name>alert</name>
        <value><string>Hello &lt;&amp;&gt; é "q"
        \t</string></value>
        </member>
        <member>
        <name>badge</name>
        <value><int>0</int></value>
        </member>
        <member>
        <name>sound</name>
        <value><nil/></value></member>
        </struct></value>
        </member>
        <member>
        <name>g</name>
        <value><double>1e+20</double></value>
        </member>
        <member>
        <name>b</name>
        <value><boolean>1</boolean></value>
        </member>
        <member>
        <name>l</name>
        <value><array><data>
        <value><int>1</int></value>
        <value><struct>
        </struct></value>
        <value><array><data>
        </data></array></value>
        </data></array></value>
        </member>
        </struct></value>
        </param>
        </params>
        </methodCall>

        """

    static let pythonProvision = """
        <?xml version='1.0'?>
        <methodCall>
        <methodName>provision</methodName>
        <params>
        <param>
        <value><string>cf</string></value>
        </param>
        <param>
        <value><string>-----BEGIN CERTIFICATE-----
        MIIB
        </string></value>
        </param>
        <param>
        <value><string>sandbox</string></value>
        </param>
        <param>
        <value><int>15</int></value>
        </param>
        </params>
        </methodCall>

        """

    static let pythonFeedback = """
        <?xml version='1.0' encoding='iso-8859-1'?>
        <methodCall>
        <methodName>feedback</methodName>
        <params>
        <param>
        <value><string>cf</string></value>
        </param>
        </params>
        </methodCall>

        """

    static let rubyNotify =
        #"<?xml version="1.0" ?><methodCall><methodName>notify</methodName><params><param><value><string>cf</string>"#
        + "</value></param><param><value><string>740f 4707</string></value></param><param><value><array><data><value>"
        + "<struct><member><name>aps</name><value><struct><member><name>alert</name><value><string>h &lt;&amp;&gt; é\n"
        + "</string></value></member><member><name>badge</name><value><i4>9</i4></value></member></struct></value>"
        + "</member><member><name>f</name><value><double>1.5</double></value></member><member><name>g</name><value>"
        + "<double>1.0e+20</double></value></member><member><name>h</name><value><double>-5.0e-08</double></value>"
        + "</member><member><name>t</name><value><boolean>1</boolean></value></member><member><name>e</name><value>"
        + "<array><data/></array></value></member><member><name>z</name><value><struct/></value></member><member>"
        + "<name>u</name><value><string></string></value></member></struct></value></data></array></value></param>"
        + "</params></methodCall>\n"

    static let rubyProvision =
        #"<?xml version="1.0" ?><methodCall><methodName>provision</methodName><params><param><value><string>cf"#
        + "</string></value></param><param><value><string>/home/ss/cert.pem</string></value></param><param><value>"
        + "<string>sandbox</string></value></param><param><value><i4>15</i4></value></param></params></methodCall>\n"

    static let rubyFeedback =
        #"<?xml version="1.0" ?><methodCall><methodName>feedback</methodName><params><param><value><string>cf</string>"#
        + "</value></param></params></methodCall>\n"
}
